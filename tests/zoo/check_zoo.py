#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds erlsnoop diagnose against the illnesses of zoo.erl, ill and healed, on each VM, and prints a table.

    check_zoo.py [-d SECONDS] [--vm NAME=COMMAND ...] [--shared] [--pairs | --folder FOLDER] [RULE ...]

An ill one is right when the first finding is of its kind and names its culprit; a healed one when no finding is above
50. --pairs: each illness together with another one in the same VM, which is right when both are among the first three
findings. --folder: modules w_<illness>.erl that print one term of truth when run(Seconds) ends (RULE...: these alone); of
those the first findings are shown beside what they say of themselves, and nothing is judged. Libraries of native functions
are compiled; modules with `dist` in their names run on a node with a name. --shared: other programs keep this machine busy, so that
`starved` is true of every VM: it is left out but of the ill one whose illness it is.
"""
import argparse, glob, json, os, re, select, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get('BUILD', 'build'))
SNOOP = os.path.join(BUILD, 'erlsnoop')
NODE = ['+zdbbl', '64', '-kernel', 'inet_dist_connect_options', '[{sndbuf,65536}]']
NEEDS = {'near_limit': ['+P', '1024'], 'dirty_io_full': ['+SDio', '4', '+A', '4'], 'node_busy': NODE,
         'node_suspends': NODE, 'busy_waiting': ['+sbwt', 'very_long']}
MOST_HEALED = 50
# An erlvm has one pool of threads for files and no schedulers for them: that all are taken is told by what hangs.
ALSO_RIGHT = {('dirty_io_full', 'erlvm'): 'file_hangs'}
# An erlvm lends the scheduler of what is long, and its pages do not tell what its threads did; it does not spin, has a
# pool of threads for files, frees tables when their owner has ended, and holds their locks briefly.
NOT_ILL = {(rule, 'erlvm') for rule in ('exit_slow', 'scheduler_held', 'busy_waiting', 'long_native',
                                        'table_contended')}

# Findings that are true of a machine that others share, whatever runs in the VM: --shared.
left_out = set()
# What there is no other illness beside: nothing runs, or the table of processes is full.
ALONE = ('halted', 'near_limit')


def diagnose(pid, seconds):
    """The findings, the heaviest first."""
    run = subprocess.run([SNOOP, 'diagnose', '-p', str(pid), '-d', str(seconds), '--json'], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if run.returncode not in (0, 3):
        return [{'rule': 'FAILED', 'score': 0, 'what': run.stderr.strip()}]
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return [row for row in rows if row['type'] == 'diagnosis']


def vm_below(pid):
    """The VM that the command became, or started."""
    for _ in range(200):
        listed = subprocess.run(['ps', '-eo', 'pid,ppid,comm'], stdout=subprocess.PIPE, text=True).stdout
        for line in listed.splitlines()[1:]:
            child, parent, name = line.split(None, 2)
            if (int(child) == pid or int(parent) == pid) and name.strip() in ('beam.smp', 'erlvm'):
                return int(child)
        time.sleep(0.05)
    return pid


def start(vm, rules, way, beams):
    needs = [word for rule in rules for word in NEEDS.get(rule, [])]
    command = vm.split() + needs + ['-noshell', '-pa', beams, '-run', 'zoo', way] + list(rules)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, cwd=beams)


def await_ready(process, n):
    """What it says until it has n illnesses, or has ended, or says nothing for 30 s."""
    said = ''
    while said.count('{ready') < n and select.select([process.stdout], [], [], 30)[0]:
        more = os.read(process.stdout.fileno(), 4096).decode()
        said += more
        if not more:
            break
    return said


def try_rules(vm, rules, way, beams, seconds):
    """The findings, and the culprits that the workloads name."""
    process = start(vm, rules, way, beams)
    ready = await_ready(process, len(rules))
    culprits = [told[1] for told in re.findall(r"\{ready,(\w+),'?([^'}]*)'?\}\.", ready)]
    told = len(culprits) == len(rules)
    found = diagnose(vm_below(process.pid), seconds) if told else [{'rule': 'NOT READY', 'score': 0, 'what': ready}]
    not_judged = left_out - set(rules if way == 'ill' else ())
    found = [finding for finding in found if finding['rule'] not in not_judged]
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        subprocess.run(['kill', '-9', str(vm_below(process.pid))])
        process.kill()
    for name in glob.glob('/tmp/zoo_fifo.*'):
        os.unlink(name)
    for name in glob.glob('/sys/fs/cgroup/zoo.*') + glob.glob('/sys/fs/cgroup/cpu/zoo.*'):
        os.rmdir(name)
    return found, culprits if told else [''] * len(rules)


def short(found):
    return '%s %d %s' % (found[0]['rule'], found[0]['score'], found[0].get('who', '')) if found else '-'


def is_of(finding, rule, name, culprit):
    return finding['rule'] in (rule, ALSO_RIGHT.get((rule, name))) and culprit in ('any', finding.get('who', ''))


def check_pairs(vms, rules, beams, seconds):
    """Each with the one that stands half of them further."""
    right = wrong = 0
    print('%-38s %-8s %s' % ('ILLNESSES', 'VM', 'THE FIRST THREE FINDINGS'))
    for name, vm in vms:
        ill = [rule for rule in rules if (rule, name) not in NOT_ILL and rule not in ALONE]
        for i, one in enumerate(ill[:(len(ill) + 1) // 2]):
            both = [one, ill[(i + len(ill) // 2) % len(ill)]]
            found, culprits = try_rules(vm, both, 'ill', beams, seconds)
            seen = [any(is_of(f, rule, name, culprit) for f in found[:3]) for rule, culprit in zip(both, culprits)]
            right += all(seen)
            wrong += not all(seen)
            print('%-38s %-8s %s%s' % (' + '.join(both), name, '; '.join(short(found[k:]) for k in range(min(3, len(found)))),
                                       '' if all(seen) else '  WRONG'), flush=True)
    print('zoo, pairs: %d right, %d wrong' % (right, wrong))
    return wrong


class Score:
    """What became of the illnesses of a VM."""
    def __init__(self):
        self.ill = self.named = self.culprit = self.kind = self.both = self.found = self.healed = self.alarms = 0

    def see_ill(self, findings, rule, name, culprit):
        """True: the first finding is right."""
        first = findings[0] if findings else {'rule': ''}
        names = culprit in ('any', first.get('who', ''))
        kind = first['rule'] in (rule, ALSO_RIGHT.get((rule, name)))
        self.ill += 1
        self.named += culprit != 'any'
        self.culprit += culprit != 'any' and names
        self.kind += kind
        self.both += names and kind
        self.found += any(is_of(finding, rule, name, culprit) for finding in findings)
        return names and kind

    def see_healed(self, findings):
        """True: nothing is said to be wrong."""
        quiet = not findings or 0 < findings[0]['score'] <= MOST_HEALED
        self.healed += 1
        self.alarms += not quiet
        return quiet

    def text(self):
        return ('%d ill: the first finding is of the kind of %d, names the culprit of %d of %d that have one, is right '
                'of %d; found at all %d; %d healed: %d false alarms'
                % (self.ill, self.kind, self.culprit, self.named, self.both, self.found, self.healed, self.alarms))


def check_rules(vms, rules, beams, seconds):
    scores = {name: Score() for name, _ in vms}
    wrong = 0
    print('%-18s %-8s %-44s %s' % ('ILLNESS', 'VM', 'ILL: THE FIRST FINDING', 'HEALED'))
    for rule in rules:
        for name, vm in (vm for vm in vms if (rule, vm[0]) not in NOT_ILL):
            ill, culprits = try_rules(vm, [rule], 'ill', beams, seconds)
            healed, _ = try_rules(vm, [rule], 'healed', beams, seconds)
            found = scores[name].see_ill(ill, rule, name, culprits[0])
            quiet = scores[name].see_healed(healed)
            wrong += (not found) + (not quiet)
            print('%-18s %-8s %-44s %s%s' % (rule, name, short(ill)[:44], short(healed)[:40],
                                             '' if found and quiet else '  WRONG'), flush=True)
    for name, _ in vms:
        print('zoo: %s: %s' % (name, scores[name].text()))
    return wrong


def compile_folder(folder, to):
    sources = sorted(glob.glob(os.path.join(folder, '*.erl')))
    subprocess.run(['erlc', '-o', to] + sources, stdout=subprocess.DEVNULL)
    root = subprocess.run(['erl', '-noshell', '-eval', 'io:put_chars(code:root_dir()), halt().'], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    for source in glob.glob(os.path.join(folder, '*.c')):
        library = os.path.join(to, os.path.basename(source)[:-2] + '.so')
        subprocess.run(['cc', '-O2', '-fPIC', '-shared', '-I' + os.path.join(root, 'usr', 'include'), '-o', library, source],
                       check=True)
    return [name for name in (os.path.basename(source)[:-4] for source in sources) if name.startswith('w_')]


def first_two(found):
    failed = found[0]['what'] if found and found[0]['rule'] == 'FAILED' else ''
    return failed or '; '.join(short(found[i:]) for i in range(min(2, len(found)))) or '-'


def show_one(vm, module, beams, seconds):
    """The findings, and what it says of itself: into a file, as nobody reads a pipe meanwhile, which would be ill, too."""
    node = ['-sname', 'zoo_%d' % os.getpid()] if 'dist' in module else []
    command = vm.split() + node + ['-noshell', '-pa', beams, '-eval', '%s:run(%d), halt().' % (module, seconds + 5)]
    with tempfile.TemporaryFile('w+') as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL, cwd=beams)
        time.sleep(2)
        found = [finding for finding in diagnose(vm_below(process.pid), seconds) if finding['rule'] not in left_out]
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
        said.seek(0)
        return found, said.read().strip()


def show_folder(vms, folder, only, seconds):
    print('%-20s %-8s %-60s %s' % ('WORKLOAD', 'VM', 'THE FIRST TWO FINDINGS', 'ITS OWN WORDS'))
    with tempfile.TemporaryDirectory() as beams:
        for module in (found for found in compile_folder(folder, beams) if not only or found in only):
            for name, vm in vms:
                found, said = show_one(vm, module, beams, seconds)
                print('%-20s %-8s %-60s %s' % (module, name, first_two(found)[:60], said[-120:]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-d', type=int, default=4)
    parser.add_argument('--vm', action='append')
    parser.add_argument('--folder')
    parser.add_argument('--shared', action='store_true')
    parser.add_argument('--pairs', action='store_true')
    parser.add_argument('rules', nargs='*')
    asked = parser.parse_args()
    left_out.update({'starved'} if asked.shared else ())
    vms = [text.split('=', 1) for text in asked.vm or ['erl=erl', 'erlvm=' + os.path.join(BUILD, 'erlvm')]]
    if asked.folder:
        return show_folder(vms, asked.folder, asked.rules, asked.d)
    with tempfile.TemporaryDirectory() as beams:
        subprocess.run(['erlc', '-o', beams, os.path.join(HERE, 'zoo.erl')], check=True)
        listed = subprocess.run(['erl', '-noshell', '-pa', beams, '-run', 'zoo', 'list'], stdout=subprocess.PIPE,
                                text=True, check=True).stdout.split()
        rules = asked.rules or listed
        unknown = set(rules) - set(listed)
        if unknown:
            return 'no such illness: ' + ', '.join(sorted(unknown))
        check = check_pairs if asked.pairs else check_rules
        return 1 if check(vms, rules, beams, asked.d) else 0


if __name__ == '__main__':
    sys.exit(main())
