/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C on a terminal: the world stops, a menu asks what to do. */
#ifndef VM_DUMP_BREAK_MENU_H
#define VM_DUMP_BREAK_MENU_H

/* how: m the menu (when standard input is a terminal; else SIGINT ends the VM), d SIGINT ends the VM, i nothing
 * happens, c the terminal hands Ctrl-C on as a character: to the shell. */
void break_menu_init(char how);

#endif
