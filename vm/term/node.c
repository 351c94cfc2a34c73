/* SPDX-License-Identifier: Apache-2.0 */
/* The name of this node, which does not change: there is no distribution. */
#include "term/node.h"

#include "term/atom.h"

static const struct node_name self = { am_nonode_nohost, 0 };

struct node_name node_self(void)
{
	return self;
}

bool node_is_self(struct node_name node)
{
	return node.name == self.name && (node.creation == self.creation || node.creation == 0);
}
