/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a test leaves no process behind: the script runs in a group that is ended with it, by a guard when the test itself is ended. */
#include "support.h"
#include "target/otp_image.h"

#include "../erlvm_needed.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_paths(void)
{
    const char *build = getenv("BUILD");
    char path[4096], *full = realpath(build ? build : "build", NULL);

    ck_assert_msg(full != NULL, "no folder %s", build ? build : "build");
    snprintf(path, sizeof path, "%s/erlsnoop", full);
    setenv("ERLSNOOP", path, 1);
    snprintf(path, sizeof path, "%s/tests/emitter", full);
    setenv("EMITTER", path, 1);
    snprintf(path, sizeof path, "%s/erlvm", full);
    setenv("ERLVM", path, 1);
    snprintf(path, sizeof path, "%s/tests/probe_beams", full);
    setenv("BEAMS", path, 1);
    snprintf(path, sizeof path, "%s/tests/compiled", full);
    setenv("COMPILED", path, 1);
    mkdir(path, 0755);
    setenv("ERLSNOOP_BUDGET", "off", 1); /* floods are counted whole */
    setenv("SOURCE", getcwd(path, sizeof path) ? path : ".", 1);
    free(full);
}

static void read_file(const char *dir, const char *name, char *out, size_t size)
{
    char path[256];
    FILE *file;
    size_t got;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "r");
    got = file ? fread(out, 1, size - 1, file) : 0;
    out[got] = '\0';
    if (file)
        fclose(file);
}

/*
 * See the header. What a target needs that was named with -p is attached before the first epoll_wait (232, 281). Otherwise, or where
 * a write or poll waits for a reader that is stuck (1, 7, 271; no number: the kernel does not tell), links must not have become
 * more for three looks, .3 s. let_go: a VM that ended later has no links any more by a look that may have come to the
 * others before they ended; the second such look came after. The emitter is attached to behind that.
 */
static const char functions[] =
    "links() { ls -l /proc/$1/fd 2>&1 | grep -c 'bpf_link\\|perf_event'; }\n"
    "attached() { local links=0 before same=0 call rest; while kill -0 $1; do before=$links; sleep .1\n"
    "links=$(links $1); read -r call rest < /proc/$1/syscall\n"
    "[ $links -gt ${2:-0} ] && [ $links = $before ] && same=$((same + 1)) || same=0\n"
    "[ $links -gt ${2:-0} ] && [[ $call =~ ^(232|281)$ ]] && grep -qazx -e -p /proc/$1/cmdline && break\n"
    "[ $same -ge 3 ] && [[ $call =~ ^(1|7|232|271|281|)$ ]] && break; done; }\n"
    "waits() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' /proc/$1/status; }\n"
    "turns() { local end=$(($(waits $1) + $2)); while kill -0 $1 && [ $(waits $1) -lt $end ]; do sleep .05; done; }\n"
    "let_go() { local had i; for i in 1 2; do had=$(links $1); erl -noinput & attached $1 $had; kill -9 $!; wait $!\n"
    "until [ $(links $1) -le $had ]; do kill -0 $1 || break; sleep .05; done; done; cp $EMITTER let_go; ./let_go -e $2=1; rm let_go; }\n"
    "erlc() { local file beam kept; for file; do beam=$(basename $file .erl).beam\n"
    "kept=$COMPILED/$({ cat $file; stat -Lc %Y $(type -P erlc); } | md5sum | cut -c 1-32).$beam; cp $kept $beam 2> /dev/null && continue\n"
    "command erlc $file && cp $beam $kept.$$ 2> /dev/null && mv $kept.$$ $kept; [ -e $beam ] || return; done; }\n"
    "runs() { while kill -0 $1 && [[ $(readlink /proc/$1/exe) != *\"$2\"* ]]; do sleep .02; done; }\n"
    "wait_for() { local end=$((SECONDS + ${WAIT_SECONDS:-20} * ${CK_TIMEOUT_MULTIPLIER:-1}))\n"
    "until [ $1 $2 ]; do [ $SECONDS -lt $end ] || { echo \"$2 has not come\" >&2; exit 99; }; sleep .02; done; }\n"
    "await() { wait_for -s $1; }\n"
    "comes() { wait_for -e $1; }\n"
    "terminal() { script -qec \"stty cols $1; $2\" /dev/null < /dev/null | tr -d '\\r'; return ${PIPESTATUS[0]}; }\n";

/* Ends the group when the descriptor that it returns is closed, as it is however we end. */
static int guard_group(int group)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    if (!fork()) {
        setpgid(0, 0); /* a test that takes too long is ended with its group */
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0)
            ;
        kill(-group, SIGKILL);
        _exit(0);
    }
    close(ends[0]);
    return ends[1];
}

static int run_script(const char *dir, const char *script)
{
    int status, guard, pid = fork();

    if (!pid) {
        setpgid(0, 0);
        if (chdir(dir) || !freopen(".out", "w", stdout) || !freopen(".err", "w", stderr))
            _exit(99);
        execlp("bash", "bash", "-c", script, (char *)NULL);
        _exit(98);
    }
    guard = guard_group(pid);
    waitpid(pid, &status, 0);
    kill(-pid, SIGKILL);
    close(guard);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const struct support_run *support_run(const char *format, ...)
{
    static struct support_run result;
    char dir[] = "/tmp/erlsnoop-test-XXXXXX", script[1 << 15], clean[64];
    int used = snprintf(script, sizeof script, "%s", functions);
    va_list args;

    va_start(args, format);
    ck_assert_int_lt(vsnprintf(script + used, sizeof script - (size_t)used, format, args), (int)sizeof script - used);
    va_end(args);
    if (strstr(script + used, "$ERLVM"))
        erlvm_needed();
    set_paths();
    ck_assert(mkdtemp(dir) != NULL);
    chmod(dir, 0755);
    result.status = run_script(dir, script);
    read_file(dir, ".out", result.out, sizeof result.out);
    read_file(dir, ".err", result.err, sizeof result.err);
    snprintf(clean, sizeof clean, "rm -rf %s", dir);
    ck_assert_int_eq(system(clean), 0);
    return &result;
}

int support_start_erl(void)
{
    int out[2], pid;
    char byte;

    ck_assert_int_eq(pipe(out), 0);
    pid = fork();
    if (!pid) {
        setpgid(0, 0);
        dup2(open("/dev/null", O_RDWR), 0);
        dup2(out[1], 1);
        execlp("erl", "erl", "-noinput", "-eval", "io:format(\"up\")", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    ck_assert_int_eq(read(out[0], &byte, 1), 1);
    close(out[0]);
    return pid;
}

const struct support_run *support_hostile(const char *command, const char *fires)
{
    static const char clean[] = "t:0\nj:0\ne:0\nparsed\nconsulted\n";
    const struct support_run *r = support_run(
        "evil=$'\\e]0;x\\a\\e[2J\\x80\\xff\\u202e\"\\\\\\t\\n'; fire=(%s)\n"
        "$ERLSNOOP %s --events -- $EMITTER \"${fire[@]}\" | grep -vE '^[a-z_]+ [0-9]+ [0-9]+$' > t\n"
        "$ERLSNOOP %s --json --events -- $EMITTER \"${fire[@]}\" | grep '^{' > j\n"
        "$ERLSNOOP %s --terms --events -- $EMITTER \"${fire[@]}\" | grep '^#' > e\n"
        "LC_ALL=C grep -c $'[\\x01-\\x09\\x0b-\\x1f\\x7f\\x80-\\xff]' t j e\n"
        "python3 -c 'import sys,json\n"
        "for l in sys.stdin: json.loads(l)' < j && echo parsed\n"
        "erl -noinput -eval '{ok, [_ | _]} = file:consult(\"e\"), io:format(\"consulted~n\"), halt().'; cat t",
        fires, command, command, command);

    ck_assert_msg(!strncmp(r->out, clean, sizeof clean - 1), "%s", r->out);
    return r;
}

void support_interrupt(const char *command, const char *args, const char *mark, const char *key)
{
    const struct support_run *r = support_run(
        "$EMITTER -w go -u fired %s > counts & p=$!; runs $p emitter\n"
        "$ERLSNOOP %s --json -p $p > out & e=$!\n"
        "attached $e; touch go; comes fired; kill -INT $e; wait $e; s=$?; cat out\n"
        "wait $p; read -r name on off < counts; echo \"{\\\"on\\\":$on,\\\"off\\\":$off}\"; exit $s", args, command);
    long told = support_number(r->out, mark, key), on = support_number(r->out, "\"on\"", "on"), off = support_number(r->out, "\"on\"", "off");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_gt(told, 0);
    /* Counting stops at once; the kernel takes its time to lower the semaphore. */
    ck_assert_int_ge(on, told);
    ck_assert_int_gt(off, 0);
}

const struct support_run *support_two_vms(const char *command, const char *args1, const char *args2, const char *lines)
{
    return support_run("$EMITTER -w go -e %s & a=$!; $EMITTER -w go -e %s & b=$!; runs $a emitter; runs $b emitter\n"
                       "$ERLSNOOP %s --json -a > out & e=$!; attached $e; echo > go\n"
                       "wait $a $b; kill -INT $e; wait $e; s=$?; grep -E '%s' out; exit $s", args1, args2, command, lines);
}

long support_number(const char *json, const char *mark, const char *key)
{
    const char *line = strstr(json, mark), *end, *at;
    char name[128];

    if (!line)
        return -1;
    while (line > json && line[-1] != '\n')
        line--;
    end = line + strcspn(line, "\n");
    snprintf(name, sizeof name, "\"%s\":", key);
    at = strstr(line, name);
    return at && at < end ? strtol(at + strlen(name), NULL, 10) : -1;
}

long support_sum(const char *json, const char *mark, const char *key)
{
    long sum = 0;

    for (const char *at = json; (at = strstr(at, mark)); at += strcspn(at, "\n")) {
        const char *line = at;
        long number;

        while (line > json && line[-1] != '\n')
            line--;
        number = support_number(line, mark, key);
        sum += number > 0 ? number : 0;
    }
    return sum;
}

void support_told_or_lost(const struct support_run *r, const char *mark, long all, long room)
{
    long lost = support_number(r->out, "map full", "count");

    ck_assert_msg(lost == -1 || (lost > 0 && lost <= all - room), "%ld were lost of %ld, with room for %ld", lost, all,
                  room);
    ck_assert_int_eq(support_sum(r->out, mark, "count"), all);
}

bool support_in_order(const char *text, const char *first, const char *then)
{
    const char *a = strstr(text, first), *b = strstr(text, then);

    return a && b && a < b;
}

int support_lines(const char *text, const char *mark)
{
    int n = 0;

    for (const char *at = text; *at && (at = strstr(at, mark)); n++) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return n;
}

int support_width(const char *text)
{
    int widest = 0;

    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        int len = (int)strcspn(at, "\n");

        widest = len > widest ? len : widest;
    }
    return widest;
}

bool support_emulator_exports(void)
{
    const char *other = getenv("OTP_EMULATOR");
    struct otp_image *image;
    bool exports = false;
    glob_t found = {0};

    if (!other && !glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found))
        other = found.gl_pathv[0];
    ck_assert_int_eq(other ? otp_image_new(other, &image) : -ENOENT, 0);
    exports = otp_image_export(image, "erts_send_message") != NULL;
    otp_image_free(image);
    globfree(&found);
    fflush(stdout);
    return exports;
}
