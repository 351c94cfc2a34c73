#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
The real Prometheus scrapes `erlsnoop serve -a` while VMs come and go, and the dashboard of share/grafana has data.

scrape.py SOURCE ERLSNOOP ERLVM, in an empty folder. Prints what is wrong, a line each; the status is 1 if anything is.
Other VMs may run on this machine: only ours are looked at.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families

PATIENCE_S = 100
SOURCE, ERLSNOOP, ERLVM = sys.argv[1:]
LOAD = """
-module(%s).
-export([main/0, child/1, take/0, slow/0, serve/0]).
child(N) ->
    timer:sleep(N rem 5),
    case N rem 3 of 0 -> exit({bad_day, N}); _ -> ok end.
take() -> receive {m, _} -> take() end.
slow() -> receive {m, L} -> lists:sort(L), slow() end.
serve() -> receive {'$gen_call', From, _} -> gen:reply(From, ok), serve() end.
main() ->
    register(taker, spawn(?MODULE, take, [])),
    register(slow, spawn(?MODULE, slow, [])),
    register(served, spawn(?MODULE, serve, [])),
    loop(0).
loop(N) ->
    spawn(?MODULE, child, [N]),
    taker ! {m, lists:seq(1, N rem 50)},
    slow ! {m, lists:seq(1, 1000)},
    {ok, ok} = gen:call(served, '$gen_call', N),
    erlang:garbage_collect(),
    {error, enoent} = prim_file:read_file("no such file"),
    {ok, _} = prim_file:read_file("cart.erl"),
    timer:sleep(5),
    loop(N + 1).
"""
children = []
wrong = []


def start(*args, **options):
    child = subprocess.Popen(args, stdin=subprocess.DEVNULL, **options)
    children.append(child)
    return child


def compile_load():
    for name in ("cart", "stock", "shop"):
        with open(name + ".erl", "w") as file:
            file.write(LOAD % name)
    shutil.copy(SOURCE + "/tests/tools/scrape_wires.erl", ".")
    dyntrace = os.path.realpath(shutil.which("erlc")) + "/../../lib/runtime_tools-*/ebin/dyntrace.beam"
    shutil.copy(glob.glob(os.path.normpath(dyntrace))[0], ".")
    subprocess.run(["erlc", "cart.erl", "stock.erl", "shop.erl", "scrape_wires.erl"], check=True)


def start_vm(name):
    return start(ERLVM, "-noshell", "-pa", ".", "-s", name, "main",
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def await_that(what, ask):
    """The answer of `ask`, which is asked until it is true, or the patience ends."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.2)
    wrong.append("never: " + what)
    return None


def find_in(path, pattern):
    with open(path) as file:
        found = re.search(pattern, file.read())
    return found and found.group(1)


def find_program(name):
    """The machine's, or the one that deps.sh has unpacked."""
    return shutil.which(name) or next(glob.iglob(SOURCE + "/build/deps/*/usr/bin/" + name))


class Prometheus:
    def __init__(self, target):
        with open("prometheus.yml", "w") as file:
            json.dump({"global": {"scrape_interval": "2s", "scrape_timeout": "2s"}, "scrape_configs": [
                {"job_name": "erlsnoop", "static_configs": [{"targets": [target]}]}]}, file)
        with open("prometheus.log", "w") as log:
            start(find_program("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                  "--web.listen-address=127.0.0.1:0", "--enable-feature=exemplar-storage", stdout=log, stderr=log)
        listening = r'msg="Listening on".* address=(\S+)'
        self.at = await_that("prometheus listens", lambda: find_in("prometheus.log", listening))

    def get(self, path, **query):
        url = "http://%s/api/v1/%s?%s" % (self.at, path, urllib.parse.urlencode(query))
        try:
            with urllib.request.urlopen(url) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code != 503:  # it listens before it is ready
                wrong.append("%s %s: %s" % (path, query, error.read()))
        except OSError:
            pass
        return None

    def ask(self, query):
        """Samples that are numbers: of histogram_quantile, NaN says that nothing was counted."""
        data = self.get("query", query=query)
        return [s for s in data["result"] if s["value"][1] != "NaN"] if data else []


def scrape(where, accept=None):
    request = urllib.request.Request("http://%s/metrics" % where, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def check_text(where):
    text = scrape(where)
    if "# EOF" in text or "# UNIT" in text:
        wrong.append("without an Accept header it is OpenMetrics")
    said = subprocess.run([find_program("promtool"), "check", "metrics"], input=text, capture_output=True, text=True)
    if said.returncode or said.stdout or said.stderr:
        wrong.append("promtool: %s%s" % (said.stdout, said.stderr))
    families = {f.name for f in text_string_to_metric_families(scrape(where, "application/openmetrics-text"))}
    old = set(re.findall(r"^# TYPE (\S+?)(?:_total|_info)? ", text, re.MULTILINE))
    if families != old:
        wrong.append("families differ: %s" % (families ^ old))


def views():
    """All of them: of those that cost, such as nifs, serve has to be told."""
    with open(SOURCE + "/bpf/views.def") as file:
        return re.findall(r"^VIEW\((\w+),", file.read(), re.MULTILINE)


def queries(dashboard):
    """Of panels and of variables, for our VMs, as Grafana would ask them here. One has become a node."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expr = target["expr"].replace("$__rate_interval", "10s").replace("$name", "cart|shop|scrape_wires|wires@here")
            yield panel["title"], re.sub(r'"\$\w+"', '".*"', expr)
    for variable in dashboard["templating"]["list"]:
        found = re.fullmatch(r"label_values\((\w+), (\w+)\)", str(variable["query"]))
        if found:
            yield variable["name"], "count by (%s) (%s)" % (found.group(2), found.group(1))


def check_dashboard(prometheus):
    with open(SOURCE + "/share/grafana/erlsnoop.json") as file:
        dashboard = json.load(file)
    ids = [panel["id"] for panel in dashboard["panels"]]
    asked = list(queries(dashboard))
    if len(ids) != len(set(ids)) or len(asked) < 90:
        wrong.append("the dashboard has ids twice, or only %d queries" % len(asked))
    for title, query in asked:
        if "$" in query:
            wrong.append("what is %s" % query)
        await_that("data for %s: %s" % (title, query), lambda q=query: prometheus.ask(q))


def main():
    compile_load()
    cart, stock = start_vm("cart"), start_vm("stock")
    start_vm("scrape_wires")
    with open("said", "w") as said:
        serve = start(ERLSNOOP, "serve", "-a", "--listen", "127.0.0.1:0", "--linger", "3s", "--slower", "1us",
                      "--budget", "100%", "--views", ",".join(views()), stderr=said)
    where = await_that("erlsnoop serves", lambda: find_in("said", r"http://(\S+)/metrics"))
    prometheus = Prometheus(where)
    up = 'erlsnoop_up{name="%s",vm="%d"} == %d'
    births = 'erlsnoop_spawns_by_mfa_total{vm="%d",mfa="%s:child/1"} > 23'
    for name, vm in (("cart", cart), ("stock", stock)):
        await_that(name + " is up", lambda n=name, v=vm: prometheus.ask(up % (n, v.pid, 1)))
        await_that(name + " is counted", lambda n=name, v=vm: prometheus.ask(births % (v.pid, n)))
    stock.kill()
    stock.wait()
    begun, shop = time.time(), start_vm("shop")
    await_that("stock is down", lambda: prometheus.ask(up % ("stock", stock.pid, 0)))
    await_that("shop is up", lambda: prometheus.ask(up % ("shop", shop.pid, 1)))
    await_that("stock is gone", lambda: not prometheus.ask('{vm="%d"}' % stock.pid))
    begin = 'erlsnoop_spawns_by_mfa_created{vm="%d"}' % shop.pid
    created = await_that("shop has a begin", lambda: prometheus.ask(begin))
    if created and float(created[0]["value"][1]) < begun - 2:
        wrong.append("shop begins before it was started: %s, %s" % (created, begun))
    check_text(where)
    check_dashboard(prometheus)
    for series in ("gc_by_owner_pause", "efile_took"):
        query = 'erlsnoop_%s_seconds_bucket{name=~"cart|shop"}' % series
        await_that("exemplars of " + series, lambda q=query: prometheus.get("query_exemplars", query=q, start=begun, end=time.time()))
    for vm in (cart, shop):
        await_that("totals of a VM", lambda v=vm: prometheus.ask('erlsnoop_spawns_births_total{vm="%d"} > 23' % v.pid))
    if not prometheus.ask('resets(erlsnoop_spawns_births_total[5m]) == 0'):
        wrong.append("births fell")
    for target in prometheus.get("targets", state="active")["activeTargets"]:
        if target["lastError"] or prometheus.ask("min_over_time(up[5m]) != 1"):
            wrong.append("a scrape failed: %s" % target)
    serve.send_signal(signal.SIGTERM)
    if serve.wait(PATIENCE_S):
        wrong.append("erlsnoop serve ended with status %d" % serve.returncode)


try:
    main()
finally:
    for child in children:
        if child.poll() is None:
            child.kill()
        child.wait()
for line in wrong:
    print(line)
sys.exit(bool(wrong))
