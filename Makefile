# SPDX-License-Identifier: Apache-2.0
# One Makefile. Products in $(BUILD), generated sources in $(BUILD)/gen.
#   make            erlvm and erlsnoop       make deps    install what make demo needs
#   make demo       see it work              make check   every test and lint
#   make bench      ratios, side by side     make fuzz    fuzz what reads foreign bytes
#   make docs       the references of probes and questions, man pages, completions of shells
#   make scripts    build/bpftrace: the scripts of bpftrace/*.bt.in for this erlvm
#   make install    into DESTDIR and PREFIX (/usr/local); make uninstall
# Variants, each with a folder of its own under build/:
#   PROBES=0        without probes           USDT_NOP=1   probe sites of one byte
#   DEBUG=1         assertions, lock order   SAN=address,undefined | SAN=thread
#   GC_STRESS=1     a collection at every chance
#   STATIC=1        an erlsnoop that needs no library, not even libc; STATIC=0: one that needs all (else libc alone)
SHELL := /bin/bash
CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config

comma := ,
VARIANT := $(if $(filter 0,$(PROBES)),-noprobes)$(if $(USDT_NOP),-nop1)$(if $(DEBUG),-debug)$(if $(GC_STRESS),-gcstress)$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(STATIC:%=-static%)
BUILD ?= build$(if $(VARIANT),/variant$(VARIANT))
GEN := $(BUILD)/gen
FUZZ ?= $(BUILD)/fuzz

VERSION := $(shell sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p' debian/changelog)
WARN := -Wall -Wextra
CFLAGS ?= -O2 -g
BASE_CFLAGS := -std=c17 -D_GNU_SOURCE $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP
VM_CFLAGS := $(BASE_CFLAGS) -fno-strict-aliasing -mno-red-zone -fno-omit-frame-pointer -Ivm
TOOL_CFLAGS := $(BASE_CFLAGS) -I. -Itools -Ibpf -I$(GEN)
LDFLAGS ?=
# Against what foreign bytes might do to a stack, or to a table of functions. Fuzz targets and sanitizers have their own means. The VM
# has no stack protectors: they cost it 2.5 % of its instructions.
HARDENING := -fPIE -Wformat -Werror=format-security
HARDENING += $(if $(SAN)$(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
LDFLAGS += $(if $(filter 1,$(STATIC)),,-pie) -Wl,-z,relro,-z,now
ifneq ($(SAN),)
VM_CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=undefined
TOOL_CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=$(SAN)
endif
ifeq ($(PROBES),0)
VM_CFLAGS += -DERLVM_PROBES=0
endif
ifneq ($(USDT_NOP),)
VM_CFLAGS += -DUSDT_NOP=1
endif
ifneq ($(DEBUG),)
VM_CFLAGS += -DERLVM_DEBUG
endif
ifneq ($(GC_STRESS),)
VM_CFLAGS += -DERLVM_GC_STRESS
endif
# $(call accepted,FLAGS): those flags if the compiler knows them.
accepted = $(shell $(CC) $(1) -Werror -E -x c /dev/null >/dev/null 2>&1 && echo $(1))
# Two neighbouring words that were just stored one by one, as registers of the loop are, cannot be forwarded to one load of both: the load
# waits until they have reached the cache.
VM_CFLAGS += $(call accepted,-fno-tree-slp-vectorize)
# What system_info(compile_info) tells.
FLAGS_TOLD := $(HARDENING) $(VM_CFLAGS)
# The loop wants its handlers' dispatch jumps kept apart (clang does so by itself).
LOOP_CFLAGS := $(call accepted,-fno-gcse -fno-crossjumping)
# Hardening that builders of packages ask for in CFLAGS stops short of the loop, which would pay at each jump and call.
LOOP_CFLAGS += $(call accepted,-fno-stack-protector) $(call accepted,-fcf-protection=none)

VM_LIBS := -lgmp -lz -lzstd -lm -lpthread $(shell $(PKG_CONFIG) --libs libpcre2-8 2>/dev/null)
# What erlsnoop needs but libc is linked in, so that one that was built on the oldest release runs on all later ones.
# zlib is the first: libelf.a may have a crc32() of its own, for who has found none.
TOOL_LIBS := -lz $(shell $(PKG_CONFIG) --libs libbpf 2>/dev/null || echo -lbpf) -ldw -lelf -lcapstone -lzstd -lmicrohttpd -lprotobuf-c -ljansson -lstdc++
ifneq ($(STATIC),0)
TOOL_LIBS := -Wl,-Bstatic -Wl,--start-group $(TOOL_LIBS) -llzma -lbz2 -Wl,--end-group -Wl,-Bdynamic
endif
LEFT_OUT := $(if $(filter 0,$(STATIC)),,TLS$(if $(STATIC),$(comma) debuginfod))
CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check)

VM_SRC := $(filter-out vm/main.c vm/stencils/%,$(wildcard vm/*.c vm/*/*.c vm/*/*/*.c))
TOOL_SRC := $(filter-out tools/link/%,$(wildcard tools/*/*.c))
# Those of families are linked into one object, views.
BPF_FAMILIES := core $(sort $(shell sed -nE 's/^VIEW.\w+, (\w+),.*/\1/p' bpf/views.def))
BPF_OBJ := $(filter-out $(BPF_FAMILIES),$(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c))) views
BPF_HEADERS = $(wildcard bpf/*.h bpf/*.def) vm/probes.def vm/batch_format.h $(GEN)/tells.def $(GEN)/families.h $(GEN)/handlers.h
BPF_CC = $(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Werror -I. -Ibpf -I$(GEN)
SKEL := $(BPF_OBJ:%=$(GEN)/%.skel.h)
VM_OBJ := $(VM_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/stencil_table.o
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/obj/%.o) $(if $(filter 0,$(STATIC)),,$(BUILD)/obj/tools/link/no_tls.o $(BUILD)/obj/tools/link/elf_trees.o) \
	$(BUILD)/obj/tools/profile/profile.pb-c.o
TEST_ROOMS := unit probes tools erl

.PHONY: all deps deps-check docs scripts demo check check-vm check-releases check-install check-kernels check-stock check-peer check-cluster check-services check-healthy check-serving check-fresh check-clangs check-build soak check-otp check-zoo check-natives check-compile lint bench fuzz fuzz-targets clean tests install uninstall $(TEST_ROOMS:%=check-%)
.DELETE_ON_ERROR:
.SECONDARY:
all: $(BUILD)/erlvm $(BUILD)/erl $(BUILD)/erlsnoop

# Its functions are those that libraries of natives and drivers call.
VM_LDFLAGS := -rdynamic $(LDFLAGS)
$(BUILD)/erlvm: $(BUILD)/obj/vm/main.o $(VM_OBJ)
	$(CC) $(VM_LDFLAGS) -o $@ $^ $(VM_LIBS)

$(BUILD)/erl: vm/erl.sh
	@mkdir -p $(@D)
	install -m 755 $< $@

# Nothing of it is for libraries: those that libdebuginfod brings have their own zlib and gnutls.
ifeq ($(STATIC),1)
$(BUILD)/erlsnoop: $(BUILD)/obj/tools/link/no_libraries.o
$(BUILD)/erlsnoop: TOOL_LIBS := $(filter-out %-Bdynamic,$(TOOL_LIBS))
$(BUILD)/erlsnoop: LDFLAGS += -static-pie -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose
endif
$(BUILD)/erlsnoop: $(BUILD)/obj/tools/erlsnoop.o $(TOOL_OBJ)
	$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
$(GEN)/no_tls.c: tools/link/no_tls.sh Makefile
	@mkdir -p $(@D)
	bash $< "$$($(CC) -print-file-name=libmicrohttpd.a)" > $@
$(BUILD)/obj/tools/link/no_tls.o: $(GEN)/no_tls.c
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(TOOL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/vm/bif/system/bif_info.o $(FUZZ)/vm/bif/system/bif_info.o: VM_CFLAGS += -DBUILD_CFLAGS='"$(FLAGS_TOLD)"' -DBUILD_LDFLAGS='"$(VM_LDFLAGS) $(VM_LIBS)"'
$(BUILD)/obj/vm/main.o: VM_CFLAGS += -DVERSION='"$(VERSION)"'
$(BUILD)/obj/tools/erlsnoop.o: TOOL_CFLAGS += -DLEFT_OUT='"$(LEFT_OUT)"'
$(BUILD)/obj/tools/erlsnoop.o $(BUILD)/obj/tools/recording/recorder.o $(BUILD)/obj/tools/serve/server.o: TOOL_CFLAGS += -DVERSION='"$(VERSION)"'
$(BUILD)/obj/vm/exec/loop.o: VM_CFLAGS += $(LOOP_CFLAGS)
# Flags stand in this file: an object that was made with others is made again.
$(BUILD)/obj/vm/%.o: vm/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(VM_CFLAGS) -c -o $@ $<

# ---- stencils: machine code of the loop's operations (vm/jit). They are gcc's, for x86-64: what another compiler or a sanitizer builds
# has none, nor where the compiler does not take this file; then the loop runs alone. stencils.txt says what became of each operation.
HAS_STENCILS := $(if $(SAN),,$(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | \
	awk '/ __clang__ / { clang = 1 } / __x86_64__ / { x86 = 1 } END { if (x86 && !clang) print 1 }'))
STENCIL_CFLAGS := -std=c17 -D_GNU_SOURCE $(filter -DERLVM_%,$(VM_CFLAGS)) -Ivm -I$(GEN) -O2 -w -fno-strict-aliasing -fno-pic -fno-pie \
	-fcf-protection=none -fno-stack-protector -fomit-frame-pointer -ffixed-rbp -mno-red-zone -fno-ipa-icf -fno-jump-tables -fno-gcse \
	-fno-tree-slp-vectorize -fno-align-functions -fno-align-jumps -fno-align-loops -fno-align-labels \
	-fno-reorder-blocks-and-partition -fno-asynchronous-unwind-tables -ffunction-sections
STENCIL_TOOLS := $(BUILD)/stencil_variants $(BUILD)/stencil_tool
$(BUILD)/stencil_variants: $(addprefix $(BUILD)/obj/vm/,stencils/stencil_variants.o code/opcodes.o base/log.o)
$(BUILD)/stencil_tool: $(addprefix $(BUILD)/obj/vm/,stencils/stencil_tool.o stencils/stencil_code.o code/opcodes.o base/log.o)
$(STENCIL_TOOLS):
	$(CC) $(LDFLAGS) -o $@ $^ -lelf -lcapstone
$(GEN)/variants.inc: $(BUILD)/stencil_variants
	@mkdir -p $(@D)
	$< > $@
$(BUILD)/obj/stencil_ops.o: vm/stencils/stencil_ops.c $(GEN)/variants.inc Makefile
	$(CC) $(STENCIL_CFLAGS) -MMD -MP -c -o $@ $< || $(CC) -x c -c -o $@ /dev/null
$(GEN)/stencil_table.c: $(BUILD)/stencil_tool $(BUILD)/obj/stencil_ops.o
	$^ $@ $(BUILD)/stencils.txt || cp vm/stencils/no_stencils.c $@
ifeq ($(HAS_STENCILS),)
$(BUILD)/obj/stencil_table.o: vm/stencils/no_stencils.c Makefile
else
$(BUILD)/obj/stencil_table.o: $(GEN)/stencil_table.c Makefile
endif
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(VM_CFLAGS) -c -o $@ $<

# The format of a profile.
$(GEN)/profile.pb-c.c $(GEN)/profile.pb-c.h &: tools/profile/profile.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(GEN) $(<F)
$(BUILD)/obj/tools/profile/profile.pb-c.o: $(GEN)/profile.pb-c.c Makefile
	@mkdir -p $(@D)
	$(CC) $(HARDENING) -fstack-protector-strong $(TOOL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/tools/%.o: tools/%.c Makefile | $(SKEL) $(GEN)/profile.pb-c.h
	@mkdir -p $(@D)
	$(CC) $(HARDENING) -fstack-protector-strong $(TOOL_CFLAGS) -c -o $@ $<

# ---- BPF: CO-RE objects and their skeletons
$(GEN)/tells.def: bpf/tells.sh bpf/views.def
	@mkdir -p $(@D)
	bash $^ > $@
$(GEN)/families.h $(GEN)/handlers.h: $(GEN)/%.h: bpf/families.sh bpf/views.def
	@mkdir -p $(@D)
	bash $< $* bpf/views.def > $@
$(GEN)/views.bpf.o: $(BPF_FAMILIES:%=$(GEN)/%.bpf.o)
	$(BPFTOOL) gen object $@ $^
$(GEN)/%.bpf.o: bpf/%.bpf.c $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(BPF_CC) -c -o $@ $<
$(GEN)/%.bpf.o: tests/probes/%.bpf.c tests/probes/record.h $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(BPF_CC) -c -o $@ $<
$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(subst .,_,$*) > $@

# erlsnoop with the programs of clang-N: what includes their skeletons, and what is of all.
SKEL_USERS := $(shell grep -l 'skel\.h"' tools/*/*.c)
define of_clang
$$(BUILD)/clang-$(1)/gen/views.bpf.o: $$(BPF_FAMILIES:%=$$(BUILD)/clang-$(1)/gen/%.bpf.o)
	$$(BPFTOOL) gen object $$@ $$^
$$(BUILD)/clang-$(1)/gen/%.bpf.o: bpf/%.bpf.c $$(BPF_HEADERS)
	@mkdir -p $$(@D)
	$$(BPF_CC:$$(CLANG)=clang-$(1)) -c -o $$@ $$<
$$(BUILD)/clang-$(1)/gen/%.skel.h: $$(BUILD)/clang-$(1)/gen/%.bpf.o
	$$(BPFTOOL) gen skeleton $$< name $$(subst .,_,$$*) > $$@
$$(BUILD)/clang-$(1)/%.o: tools/%.c $$(SKEL:$$(GEN)/%=$$(BUILD)/clang-$(1)/gen/%) $$(SKEL)
	@mkdir -p $$(@D)
	$$(CC) -I$$(BUILD)/clang-$(1)/gen $$(TOOL_CFLAGS) -c -o $$@ $$<
$$(BUILD)/clang-$(1)/erlsnoop: $$(SKEL_USERS:tools/%.c=$$(BUILD)/clang-$(1)/%.o) $$(BUILD)/obj/tools/erlsnoop.o $$(filter-out $$(SKEL_USERS:%.c=$$(BUILD)/obj/%.o),$$(TOOL_OBJ))
	$$(CC) $$(LDFLAGS) -o $$@ $$^ $$(TOOL_LIBS)
endef
$(foreach version,14 16 19 21,$(eval $(call of_clang,$(version))))

# ---- tests: every tests/<room>/**/*_test.c gives suites; the runner is generated from their names
define test_room
$(1)_TEST_SRC := $$(shell find tests/$(1) -name '*_test.c' 2>/dev/null | sort)
$(1)_SUPPORT_SRC := $$(wildcard tests/$(1)/support*.c tests/$(1)/unit.c) tests/erlvm_needed.c
$$(GEN)/$(1)_runner.c: $$($(1)_TEST_SRC) tests/runner.sh
	@mkdir -p $$(@D)
	bash tests/runner.sh $(1) $$($(1)_TEST_SRC) > $$@
$$(BUILD)/tests/$(1): $$(GEN)/$(1)_runner.c $$($(1)_TEST_SRC:%.c=$$(BUILD)/obj/%.o) $$($(1)_SUPPORT_SRC:%.c=$$(BUILD)/obj/%.o) $$(if $$(filter unit,$(1)),$$(VM_OBJ) $(BUILD)/obj/vm/stencils/stencil_code.o) $$(if $$(filter probes tools,$(1)),$$(TOOL_OBJ))
	@mkdir -p $$(@D)
	$$(CC) $$(VM_CFLAGS) -I. $$(if $$(filter unit erl,$(1)),$$(VM_LDFLAGS),$$(LDFLAGS)) -Wl,--wrap=tcase_fn_start -o $$@ $$^ $$(CHECK_LIBS) $$(VM_LIBS) $$(TOOL_LIBS)
endef
$(foreach room,$(TEST_ROOMS),$(eval $(call test_room,$(room))))

$(BUILD)/obj/tests/erl/%.o: TOOL_CFLAGS += $(filter -DERLVM_GC_STRESS,$(VM_CFLAGS))
$(BUILD)/obj/tests/unit/jit/%.o: VM_CFLAGS += -DHAS_STENCILS=$(if $(HAS_STENCILS),1,0)
$(BUILD)/obj/tests/unit/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -Itests/unit -c -o $@ $<
$(BUILD)/obj/tests/%.o: tests/%.c | $(SKEL)
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -Itests/$(firstword $(subst /, ,$*)) -c -o $@ $<

# A program that fires probes by the number, for the tools' tests.
$(BUILD)/tests/emitter: tests/tools/emitter.c vm/usdt.c vm/usdt.h vm/probes.def Makefile
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -fomit-frame-pointer -o $@ tests/tools/emitter.c vm/usdt.c

$(BUILD)/tests/probe_beams/%.beam: tests/probes/%.erl
	@mkdir -p $(@D)
	erlc -o $(@D) $<
$(BUILD)/tests/probe_beams/%.so: tests/probes/%.c vm/driver/driver_abi.h vm/nif/nif_abi.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -shared -fPIC -o $@ $<
$(BUILD)/obj/tests/probes/probes_test.o: $(GEN)/record.skel.h
$(BUILD)/obj/tests/tools/install_test.o: TOOL_CFLAGS += -DSTATIC='"$(STATIC)"'

TEST_BINS := $(foreach room,$(TEST_ROOMS),$(if $(shell find tests/$(room) -name '*_test.c' 2>/dev/null),$(BUILD)/tests/$(room)))
# Scripts of bpftrace that read arguments where the notes of this erlvm say they are.
SCRIPTS := $(if $(filter 0,$(PROBES)),,$(patsubst bpftrace/%.in,$(BUILD)/bpftrace/%,$(wildcard bpftrace/*.bt.in)))
scripts: $(SCRIPTS)
$(BUILD)/bpftrace/%.bt: bpftrace/%.bt.in bpftrace/generate.sh $(BUILD)/erlvm vm/probes.def vm/io/inet.h
	@mkdir -p $(@D)
	CC="$(CC)" bash bpftrace/generate.sh $(BUILD)/erlvm $< > $@
	@chmod +x $@

# What is made of tables and of help texts.
DOCS := $(BUILD)/docs/map.md $(BUILD)/docs/probes.md $(BUILD)/docs/views.md $(BUILD)/docs/illnesses.md $(addprefix $(BUILD)/share/,erlsnoop.1 erlvm.1 bash/erlsnoop zsh/_erlsnoop)
# Scripts are made of the notes of the build that is installed: those of a sanitizer's build have arguments elsewhere.
tests: all $(DOCS) $(if $(SAN),,$(SCRIPTS)) $(TEST_BINS) $(BUILD)/tests/probe_beams/probe_target.beam $(BUILD)/tests/probe_beams/probe_driver.so $(BUILD)/stencil_tool $(if $(wildcard tests/tools/emitter.c),$(BUILD)/tests/emitter)

# An application that deps.sh only unpacks is found by ERL_LIBS.
# Limits of time only end what is stuck: there is patience for slow builds, and machines that others use.
# Sanitizers' allocators end whoever asks for more than there is, unless they are told to say no, as the C library does.
TEST_ENV = $(if $(SAN),ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1) BUILD=$(BUILD) ERL_LIBS=$(CURDIR)/build/deps/erlang-observer/usr/lib/erlang/lib CK_TIMEOUT_MULTIPLIER=5

check-unit check-probes check-tools check-erl: check-%: tests
	$(TEST_ENV) $(BUILD)/tests/$*

# Debian's own Erlangs, and servers that run on one, watched from outside (tests/stock).
check-stock: all
	@BUILD=$(BUILD) python3 tests/stock/check_stock.py
# An OTP built with notes from the distribution's sources, once, into build/peer: watched, and the scripts of bpftrace run on it
# (PEER_ONLY="jit gc" names some rows).
check-peer: tests
	@BUILD=$(BUILD) python3 tests/stock/check_peer.py
# The two commands on machines made anew (FRESH="12 13" names some releases).
check-fresh:
	@bash tests/fresh/check_fresh.sh
# erlvm's tests with the library of each release (OTP 25, 27, 29), on machines made anew (FRESH="13" names some).
check-releases:
	@FRESH_STEPS=vm bash tests/fresh/check_fresh.sh
# The BPF programs built by each clang, and each command with them (CLANGS="19" names some).
check-clangs: all
	@BUILD=$(BUILD) bash tests/fresh/check_clangs.sh
# Nodes of erlvm with nodes of Debian's Erlangs (CLUSTER_ONLY="29" names some pairings).
check-cluster: all
	@BUILD=$(BUILD) python3 tests/stock/check_cluster.py
check-services: all
	@BUILD=$(BUILD) python3 tests/stock/check_services.py
# What diagnose finds of servers that are well: ten minutes of each (HEALTHY_SECONDS=60 HEALTHY="elixir idle" for less).
check-healthy: all
	@BUILD=$(BUILD) python3 tests/stock/check_healthy.py
# RabbitMQ, ejabberd and HTTP servers of Debian 12 served from erlvm and from the machine's erl in turn
# (SERVING="cowboy" names some).
check-serving: all
	@BUILD=$(BUILD) python3 tests/stock/check_serving.py
# The Debian packages built, installed, tried and removed in fresh chroots of 12, 13 and sid, and a static erlsnoop in an empty one (network);
# INSTALL_ONLY="static sid" names some.
check-install:
	@bash tests/install/check_install.sh
# Kernels of distributions booted in qemu, each command and the tools' live tests in each (tests/kernels); KERNELS="6.1 6.12"
# names some, SUITES= leaves out the tests.
check-kernels: all $(BUILD)/tests/tools $(BUILD)/tests/emitter
	@BUILD=$(BUILD) python3 tests/kernels/check_kernels.py
# Attaching to an erl under load and detaching again, SOAK_ROUNDS times (1000).
soak: all $(BUILD)/tests/emitter
	@BUILD=$(BUILD) python3 tests/stock/soak.py
	@BUILD=$(BUILD) python3 tests/stock/come_and_go.py
# OTP's own emulator and stdlib suites on erlvm, held against the machine's erl (OPTIONS: --suite NAME, --case NAME ...).
# ZOO: options of tests/zoo/check_zoo.py, such as -d 10, --vm NAME=COMMAND, --folder FOLDER, names of findings
check-zoo: all
	BUILD=$(BUILD) tests/zoo/check_zoo.py $(ZOO)
check-otp: all
	@BUILD=$(BUILD) python3 tests/otp/check_otp.py $(OPTIONS)

# Every native function, called with hostile arguments on erlvm and on the machine's erl (OPTIONS: --rounds N, --only TEXT, --no-stock).
check-natives: all
	@BUILD=$(BUILD) python3 tests/natives/attack_natives.py $(OPTIONS)

# All of stdlib, compiled by the compiler on erlvm and on the machine's erl: byte for byte the same?
check-compile: all
	@mkdir -p $(BUILD)/compile && erlc -o $(BUILD)/compile tests/erl/compile_check.erl
	@for vm in erl $(BUILD)/erlvm; do $$vm -noshell -pa $(BUILD)/compile -s compile_check main -s erlang halt \
		> $(BUILD)/compile/$$(basename $$vm).txt || exit 1; done
	@diff $(BUILD)/compile/erl.txt $(BUILD)/compile/erlvm.txt && echo "check-compile: $$(wc -l < $(BUILD)/compile/erl.txt) modules, all the same"

# ---- fuzz: what reads foreign bytes, each target for FUZZ_SECONDS; what it finds goes to $(FUZZ)/corpus, findings to $(FUZZ)
FUZZ_SECONDS ?= 60
FUZZ_OPTIMIZE ?= -O1
FUZZ_ROOMS := base term heap data proc code
# A fuzz target has AddressSanitizer, beside which ThreadSanitizer cannot be.
FUZZ_CFLAGS = $(filter-out -mno-red-zone -fsanitize=thread,$(VM_CFLAGS)) $(FUZZ_OPTIMIZE) -fsanitize=fuzzer-no-link,address
FUZZ_OBJ := $(patsubst %.c,$(FUZZ)/%.o,vm/usdt.c $(wildcard $(FUZZ_ROOMS:%=vm/%/*.c)))
BATCH_READERS := $(addprefix tools/,event/batch_page event/batch_merge event/batch_names event/event event/event_text common/term_text)
FUZZ_NAMES := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
# The loop is one function of thousands of lines, which clang takes a quarter of an hour for with UndefinedBehaviorSanitizer.
$(FUZZ)/vm/exec/loop.o: FUZZ_CFLAGS := $(filter-out -fsanitize=address%undefined -fno-sanitize-recover=undefined,$(FUZZ_CFLAGS))
$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -c -o $@ $<
$(FUZZ)/%_fuzz: $(FUZZ)/tests/fuzz/%_fuzz.o $(FUZZ_OBJ)
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ $(VM_LIBS)
FUZZ_VM_SRC := $(VM_SRC) vm/stencils/no_stencils.c
# Native functions need the whole machine; traps find a scheduler of the target's own.
$(FUZZ)/natives_fuzz: $(patsubst %.c,$(FUZZ)/%.o,tests/fuzz/natives_fuzz.c $(FUZZ_VM_SRC))
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ $(VM_LIBS)
# Sockets' commands: what is foreign there, and the natives' machine around it.
$(FUZZ)/inet_fuzz: $(patsubst %.c,$(FUZZ)/%.o,tests/fuzz/inet_fuzz.c $(FUZZ_VM_SRC))
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ $(VM_LIBS)
$(FUZZ)/driver_term_fuzz: $(FUZZ)/vm/driver/driver_term.o
# The module socket's native functions. The kernel is the target's.
$(FUZZ)/socket_fuzz: $(patsubst %.c,$(FUZZ)/%.o,tests/fuzz/socket_fuzz.c $(FUZZ_VM_SRC))
	$(CLANG) -fsanitize=fuzzer,address $(addprefix -Wl$(comma)--wrap=,ioctl recvfrom recvmsg sendto sendmsg getsockopt \
		setsockopt enif_get_resource) -o $@ $^ $(VM_LIBS)
# Messages of other nodes. Processes here are the target's.
$(FUZZ)/dist_fuzz: $(patsubst %.c,$(FUZZ)/%.o,tests/fuzz/dist_fuzz.c $(FUZZ_VM_SRC))
	$(CLANG) -fsanitize=fuzzer,address -Wl,--wrap=signal_send,--wrap=process_spawn,--wrap=process_is_alive -o $@ $^ \
		$(VM_LIBS)
# A refused file of arguments ends the program, which must not end the fuzzer.
$(FUZZ)/args_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/args_fuzz vm/erl_args vm/erl_words) $(FUZZ_OBJ)
	$(CLANG) -fsanitize=fuzzer,address -Wl,--wrap=exit,--wrap=daemon,--wrap=setenv,--wrap=execvp -o $@ $^ $(VM_LIBS)
# The reading of an emulator's file, from a small one on.
$(FUZZ)/tools/%.o $(FUZZ)/tests/fuzz/otp_file_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/otp_file_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/otp_file_fuzz tools/target/otp_image tools/target/frame_table tools/otp/otp_symbols tools/otp/otp_insn tools/otp/otp_slide tools/otp/otp_exit tools/otp/otp_recover \
	tools/otp/otp_recover_tables tools/otp/otp_bifs)
	@mkdir -p $(FUZZ)/corpus/otp_file
	echo 'int exported(int a) { return a; }' | $(CC) -x c -shared -fPIC -O1 -o $(FUZZ)/corpus/otp_file/small.so -
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lelf -lcapstone
$(FUZZ)/tests/fuzz/batch_%_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/batch_%_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/batch_%_fuzz $(BATCH_READERS))
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^
# Notes of a small file that has two.
$(FUZZ)/tests/fuzz/elf_file_fuzz.o $(FUZZ)/tests/fuzz/otp_memory_fuzz.o $(FUZZ)/tests/fuzz/erlvm_memory_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/elf_file_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/elf_file_fuzz $(addprefix tools/,target/elf_file target/memory target/memory_file target/core_file common/clock))
	@mkdir -p $(FUZZ)/corpus/elf_file
	echo 'int noted = 1; int fire(int n) { STAP_PROBE1(erlang, spawn, n); STAP_PROBE1(erlang, exit, n); return n; }' | \
		$(CC) -include sys/sdt.h -x c -shared -fPIC -O1 -o $(FUZZ)/corpus/elf_file/noted.so -
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lbpf -lelf
$(FUZZ)/otp_memory_fuzz $(FUZZ)/erlvm_memory_fuzz: $(FUZZ)/%_fuzz: $(FUZZ)/tests/fuzz/%_fuzz.o \
	$(patsubst %,$(FUZZ)/tools/%.o,target/memory target/memory_file target/core_file common/clock otp/erlvm_code otp/erlvm_layout target/frame_table otp/otp_atoms otp/otp_check otp/otp_code target/otp_image otp/otp_lines otp/otp_modules otp/otp_registered common/rights)
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lbpf -lelf
# A core file, from a small one on.
$(FUZZ)/tests/fuzz/core_file_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/core_file_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/core_file_fuzz tools/target/core_file)
	@mkdir -p $(FUZZ)/corpus/core_file
	python3 tests/fuzz/small_core.py > $(FUZZ)/corpus/core_file/small
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^
$(FUZZ)/tests/fuzz/recording_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/recording_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/recording_fuzz tools/recording/recording tools/recording/recording_read $(BATCH_READERS))
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lz -lzstd
# The whole way of events: without what reads processes.
FEED_PARTS := $(wildcard tools/event/*.c tools/sink/*.c tools/view/*.c) $(addprefix tools/,source/feed.c serve/metrics.c serve/sink_openmetrics.c) \
	$(wildcard tools/recording/recording*.c) $(patsubst %,tools/common/%.c,array clock escape fail nearest options own_file table tally term_text)
$(FUZZ)/tests/fuzz/feed_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/tests/fuzz/feed_fuzz.o $(patsubst %.c,$(FUZZ)/%.o,$(FEED_PARTS)): FUZZ_CFLAGS += -I. -Ibpf -I$(GEN) -Wno-missing-field-initializers
$(FUZZ)/tests/fuzz/feed_fuzz.o $(patsubst %.c,$(FUZZ)/%.o,$(FEED_PARTS)): | $(GEN)/tells.def $(GEN)/families.h $(GEN)/handlers.h
$(FUZZ)/feed_fuzz: $(FUZZ)/tests/fuzz/feed_fuzz.o $(patsubst %.c,$(FUZZ)/%.o,$(filter-out $(addprefix tools/view/,before.c beside.c quotas.c connections.c sched_parts.c \
	unavailable.c view_places.c view_select.c),$(FEED_PARTS)))
	@mkdir -p $(FUZZ)/corpus/feed
	python3 -c 'import random; random.seed(1); [open(f"$(FUZZ)/corpus/feed/long{i}", "wb").write(random.randbytes(3000)) for i in range(24)]'
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lbpf -lelf -lz -lzstd -lm
# A team's own rules, from the manual's example on.
$(FUZZ)/tests/fuzz/own_rules_fuzz.o: FUZZ_CFLAGS += -Itools
$(FUZZ)/own_rules_fuzz: $(patsubst %,$(FUZZ)/%.o,tests/fuzz/own_rules_fuzz tools/diagnose/own_parse tools/diagnose/own_evaluate tools/common/array)
	@mkdir -p $(FUZZ)/corpus/own_rules
	sed -n '/^    # orders.rules/,/^    *more/s/^    //p' docs/erlsnoop.md > $(FUZZ)/corpus/own_rules/manual
	$(CLANG) -fsanitize=fuzzer,address -o $@ $^ -lm
fuzz-%: $(FUZZ)/%_fuzz
	@mkdir -p $(FUZZ)/corpus/$* tests/fuzz/corpus/$*
	$< -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -timeout=20 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix=$(FUZZ)/$*- $(FUZZ)/corpus/$* tests/fuzz/corpus/$*
fuzz-targets: $(FUZZ_NAMES:%=$(FUZZ)/%_fuzz)
fuzz: deps-check
	$(MAKE) $(FUZZ_NAMES:%=fuzz-%)

# On all processors, unless -jN says otherwise: as many compilers at once as there are files (-j) would need more memory than there is.
PARALLEL = $(if $(filter -j% --jobserver%,$(filter-out -j,$(MAKEFLAGS))),,-j$(shell nproc))
# Each of these makes all that it needs by a make of its own: two at the same time would write the same files.
ifneq ($(filter demo check bench fuzz,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

# Tests in two rows at the same time: those of tools wait most of the time, those of the VM compute. The rows take about as long
# with suites of tools in the first that hold counts, which do not change where others compute. Slow builds compute all
# the time: one row.
COUNTING = bpftrace sources
test_bins = $(filter $(1:%=$(BUILD)/tests/%),$(TEST_BINS))
tools_suites = $(BUILD)/tests/tools:$(subst $() ,$(comma),$(1))
VM_ROW = $(call test_bins,unit erl) $(call tools_suites,$(COUNTING))
TOOLS_ROW = $(call test_bins,probes) $(call tools_suites,$(COUNTING:%=-%))
TEST_ROWS = $(if $(SAN)$(GC_STRESS),"$(TEST_BINS)","$(VM_ROW)" "$(TOOLS_ROW)")

# The fuzz targets are built too, so that they keep up with the code; they run by `make fuzz`, which optimizes them.
check-build: deps-check
	$(MAKE) $(PARALLEL) FUZZ=$(BUILD)/fuzz-unoptimized FUZZ_OPTIMIZE=-O0 lint tests fuzz-targets
check: check-build
	@$(TEST_ENV) bash tests/check.sh $(TEST_ROWS)

# Those of the machine alone.
check-vm: deps-check
	$(MAKE) $(PARALLEL) tests
	@$(TEST_ENV) bash tests/check.sh "$(call test_bins,unit erl)"

lint: $(GEN)/tells.def $(GEN)/families.h $(GEN)/handlers.h
	@for l in tests/lint/*.sh; do BPF_CC="$(BPF_CC)" bash $$l || exit 1; done

demo: deps
	$(MAKE) $(PARALLEL) all
	@BUILD=$(BUILD) bash bench/demo.sh

# What a command would do with a snapshot, alone.
$(BUILD)/bench/snapshot: bench/snapshot.c $(TOOL_OBJ)
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(TOOL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
bench: deps-check
	$(MAKE) $(PARALLEL) all $(BUILD)/bench/snapshot
	$(MAKE) $(PARALLEL) PROBES=0 build/variant-noprobes/erlvm
	@BUILD=$(BUILD) bash bench/run.sh

deps:
	@bash deps.sh
deps-check:
	@CLANG="$(CLANG)" bash deps.sh check

docs: $(DOCS) $(SCRIPTS)

PREFIX ?= /usr/local
install: all $(DOCS) $(SCRIPTS)
install uninstall:
	@BUILD='$(BUILD)' PREFIX='$(PREFIX)' bash install.sh $@

HELP_SCRIPTS := docs/from_help.sh docs/help.awk docs/man.awk docs/completion.awk
# Of the day of the release, where one is set.
TODAY = $(shell date -u -d @$${SOURCE_DATE_EPOCH:-$$(date +%s)} +%Y-%m-%d)
$(BUILD)/share/erlsnoop.1: ABOUT = what="watches Erlang virtual machines through eBPF" also=erlvm
$(BUILD)/share/erlvm.1: ABOUT = what="runs Erlang programs: a BEAM virtual machine with probes" also=erlsnoop
$(BUILD)/share/%.1: $(BUILD)/% $(HELP_SCRIPTS)
	@mkdir -p $(@D)
	bash docs/from_help.sh docs/man.awk $< name=$* $(ABOUT) version=$(VERSION) date=$(TODAY) > $@

# Words that are views and families of probes, too, are completed once.
VIEW_NAMES = sed -nE 's/^VIEW\((\w+),.*/\1/p' bpf/views.def
COMPLETED = views="$$($(VIEW_NAMES) | xargs)" probes="$$(sed -nE 's/^PROBE\((\w+), (\w+),.*/\1 \2/p' vm/probes.def | xargs -n 1 | \
	sort -u | grep -vxF "$$($(VIEW_NAMES))" | xargs)"
$(BUILD)/share/completion: $(BUILD)/erlsnoop bpf/views.def vm/probes.def $(HELP_SCRIPTS)
	@mkdir -p $(@D)
	bash docs/from_help.sh docs/completion.awk $< $(COMPLETED) > $@
$(BUILD)/share/bash/erlsnoop: $(BUILD)/share/completion share/completion/erlsnoop.bash
	@mkdir -p $(@D)
	cat $^ > $@
$(BUILD)/share/zsh/_erlsnoop: $(BUILD)/share/completion share/completion/erlsnoop.zsh
	@mkdir -p $(@D)
	(echo '#compdef erlsnoop' && cat $^) > $@

MAPPED := $(shell ls -d vm/*/*.* vm/*/*/* tools/*/* bpf/* | LC_ALL=C sort)
$(BUILD)/docs/map.md: docs/map.awk $(MAPPED)
	@mkdir -p $(@D)
	@awk -f $< $(MAPPED) > $@
$(BUILD)/docs/views.md: docs/views.c bpf/views.def
	@mkdir -p $(@D)
	$(CC) -std=c17 $(WARN) -o $(BUILD)/docs/print_views $<
	$(BUILD)/docs/print_views > $@

DOCS_OBJ := $(addprefix $(BUILD)/obj/tools/,target/elf_file.o target/memory.o target/memory_file.o target/core_file.o common/clock.o link/elf_trees.o)
$(BUILD)/docs/illnesses.md: docs/illnesses.c tools/diagnose/findings.def
	@mkdir -p $(BUILD)/docs
	$(CC) -std=c17 $(WARN) -o $(BUILD)/docs/print_illnesses $<
	$(BUILD)/docs/print_illnesses > $@
$(BUILD)/docs/probes.md: docs/probes.c vm/probes.def $(DOCS_OBJ) $(BUILD)/erlvm
	@mkdir -p $(BUILD)/docs
	$(CC) -std=c17 -D_GNU_SOURCE $(WARN) $(LDFLAGS) -o $(BUILD)/docs/print_probes $< $(DOCS_OBJ) $(TOOL_LIBS)
	$(BUILD)/docs/print_probes $(BUILD)/erlvm > $@

clean:
	rm -rf build

-include $(shell find $(BUILD)/obj $(FUZZ) -name '*.d' 2>/dev/null)
