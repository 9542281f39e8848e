/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of waits beside that of functions: what threads waited for, who woke whom, who held a
 * lock, who had the core; rows are those of `yarnprof sched --format=json`, of the whole recording. */

const SHEETS = {
    threads: { title: "Waits", sort: "runnable_ns", of: "tid", columns: {
        comm: "Thread", tid: "Tid", pid: "Pid", life_ns: "Life", running_ns: "Running",
        runnable_ns: "Runnable", blocked_ns: "Blocked", unknown_ns: "Unknown", switches: "Switches",
        preemptions: "Preempted", migrations: "Migrations", wait_ns_mean: "Wait mean",
        wait_ns_p99: "p99", wait_ns_max: "Max" } },
    wakers: { title: "Wakers", sort: "wakings", of: "woken", columns: {
        waker_comm: "Waker", waker: "Tid", woken_comm: "Woken", woken: "Tid", wakings: "Wakings",
        latency_ns_mean: "Wait for a core, mean", latency_ns_p99: "p99", latency_ns_max: "Max" } },
    locks: { title: "Holders", sort: "ns", of: "waiter", columns: {
        holder_comm: "Holder", holder: "Tid", waiter_comm: "Waiter", waiter: "Tid", looks: "Looks",
        ns: "Time", where: "Where" } },
    wait_for_core: { title: "Had the core", sort: "ns", of: "waiter", columns: {
        holder_comm: "Had the core", holder: "Tid", holder_pid: "Pid", waiter_comm: "Waited",
        waiter: "Tid", waits: "Waits", ns: "Time" } },
};

class Sheets {
    /* `on`: { choose(tid) }. */
    constructor(on) {
        const block = byId("tables-data");
        this.on = on;
        this.pane = byId("data-table");
        this.rows = block ? JSON.parse(block.textContent) : {};
        block?.remove();
    }

    /* Of those that have rows, the names. */
    names() {
        return Object.keys(SHEETS).filter((name) => this.rows[name]?.length);
    }

    show(name) {
        const { columns, sort, of } = SHEETS[name], rows = this.rows[name];
        const keys = Object.keys(columns).filter((key) => rows.some((row) => row[key] !== undefined && row[key] !== null));
        const isText = (key) => rows.every((row) => typeof row[key] !== "number");
        const table = element("table"), head = element("tr"), body = element("tbody");
        this.isUp = this.key !== undefined && this.name === name && this.isUp;
        [this.name, this.key] = [name, this.name === name ? this.key : sort];
        for (const key of keys) {
            const cell = element("th", isText(key) ? "" : "num"), button = element("button", "", columns[key]);
            button.type = "button";
            button.addEventListener("click", () => {
                this.isUp = this.key === key ? !this.isUp : isText(key);
                this.key = key;
                this.show(name);
            });
            if (key === this.key)
                cell.setAttribute("aria-sort", this.isUp ? "ascending" : "descending");
            cell.append(button);
            head.append(cell);
        }
        body.append(...this.sorted(rows).map((row) => this.line(row, keys, row[of], isText)));
        table.append(element("thead"), body);
        table.tHead.append(head);
        this.pane.replaceChildren(element("p", "", "Of the whole recording, also where a span of time is chosen."), table);
    }

    sorted(rows) {
        const sign = this.isUp ? 1 : -1, { key } = this, of = (row) => row[key] ?? "";
        return [...rows].sort((a, b) => sign * (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0));
    }

    line(row, keys, tid, isText) {
        const line = element("tr");
        line.tabIndex = 0;
        line.title = "Show this thread alone";
        line.append(...keys.map((key) => {
            const value = row[key] ?? "", isTime = /(^|_)ns($|_)/.test(key) && value !== "";
            return element("td", isText(key) ? "" : "num", isTime ? duration(value)
                : /tid|pid|waker$|woken$|holder$|waiter$/.test(key) || isText(key) ? String(value) : grouped(value));
        }));
        line.addEventListener("click", () => this.on.choose(tid));
        line.addEventListener("keydown", (event) => event.key === "Enter" && this.on.choose(tid));
        return line;
    }
}
