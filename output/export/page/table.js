/* SPDX-License-Identifier: Apache-2.0 */

/* The table of functions, whose rows are in the document from the start, and the callers and
 * callees of the chosen one. Numbers are filled in where rows come into sight. */

class Table {
    /* `on`: { choose(fn) } */
    constructor(model, on) {
        Object.assign(this, { model, on });
        this.pane = byId("list");
        this.groups = Array.from(this.pane.querySelectorAll(".g"));
        this.rows = model.data.rows;
        this.groupRows = this.groups[0]?.children.length ?? 1;
        this.side = 1;
        this.sort = { key: "self", isUp: false };
        this.chosen = -1;
        this.matches = null;
        this.visible = new Set();
        this.order = this.rows.map((_, i) => i);
        this.fnOf = new Map(this.rows.map((row, i) => [row, i]));
        this.columns = model.data.isDiff ? ["before", "after", "change", "name", "module"]
            : ["self", "total", "name", "module"];
        if (model.data.isDiff)
            this.sort.key = "change";
        this.makeHeads();
        this.pane.addEventListener("click", (event) => this.clicked(event));
        this.pane.addEventListener("keydown", (event) => this.pressed(event));
        this.watcher = new IntersectionObserver((seen) => this.seen(seen),
                                                { root: this.pane, rootMargin: "400px" });
        for (const group of this.groups)
            this.watcher.observe(group);
    }

    makeHeads() {
        const words = { self: "Self", total: "Total", before: "Before", after: "After",
                        change: "Change", name: "Function", module: "Module" };
        const titles = { self: "Share spent in the function itself", total: "Share spent in it and below it",
                         before: "Spent in the function itself, before", after: "The same, after",
                         change: "After less before; ≈: within noise" };
        this.heads = this.columns.map((key) => {
            const head = element("span", key === "name" || key === "module" ? "" : "num");
            const button = element("button", "", words[key]);
            button.type = "button";
            button.title = titles[key] ?? "";
            button.addEventListener("click", () => this.sortBy(key));
            head.setAttribute("role", "columnheader");
            head.append(button);
            return head;
        });
        byId("heads").append(...this.heads);
    }

    sortBy(key) {
        const isText = key === "name" || key === "module";
        this.sort = { key, isUp: this.sort.key === key ? !this.sort.isUp : isText };
        this.update();
    }

    /* Greatest first where sorting down; what is equal by name. */
    comparer() {
        const { data, sides } = this.model, { key, isUp } = this.sort, sign = isUp ? 1 : -1;
        const [before, after] = sides;
        const text = (of) => (a, b) => sign * (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0);
        const by = {
            self: (a, b) => sign * (after.fnSelf[a] - after.fnSelf[b]),
            total: (a, b) => sign * (after.fnTotal[a] - after.fnTotal[b]),
            before: (a, b) => sign * (before.fnSelf[a] - before.fnSelf[b]),
            after: (a, b) => sign * (after.fnSelf[a] - after.fnSelf[b]),
            change: (a, b) => sign * (this.weightOfChange(a) - this.weightOfChange(b)),
            name: text((fn) => data.names[fn]),
            module: text((fn) => data.bases[data.module[fn]]),
        }[key];
        return (a, b) => by(a, b) || after.fnTotal[b] - after.fnTotal[a] || a - b;
    }

    update() {
        if (this.model.data.isDiff)
            this.changes = this.rows.map((_, fn) => this.changeOf(fn));
        const compare = this.comparer(), matches = this.matches;
        this.order.sort(matches ? (a, b) => matches[b] - matches[a] || compare(a, b) : compare);
        this.groups.forEach((group, i) => {
            const from = i * this.groupRows;
            const rows = this.order.slice(from, from + this.groupRows).map((fn) => this.rows[fn]);
            if (rows.some((row, at) => group.children[at] !== row))
                group.replaceChildren(...rows);
        });
        this.heads.forEach((head, i) => {
            if (this.columns[i] === this.sort.key)
                head.setAttribute("aria-sort", this.sort.isUp ? "ascending" : "descending");
            else
                head.removeAttribute("aria-sort");
        });
        this.refill();
        this.detail();
    }

    changeOf(fn) {
        return this.model.change(this.model.sides.map((sums) => ({
            weight: sums.fnSelf[fn], squares: sums.fnSelfSquares[fn],
            products: sums.fnSelfProducts[fn], ofSamples: sums.fnSelfOfSamples[fn],
        })));
    }

    /* What is within noise comes behind everything that is not. */
    weightOfChange(fn) {
        const { change, isNoise } = this.changes[fn];
        return isNoise ? -1 / (1 + Math.abs(change)) : Math.abs(change);
    }

    seen(entries) {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) {
                this.visible.add(target);
                this.fillGroup(target);
            } else {
                this.visible.delete(target);
            }
        }
    }

    refill() {
        for (const group of this.visible)
            this.fillGroup(group);
    }

    fillGroup(group) {
        for (const row of group.children)
            this.fillRow(row, this.fnOf.get(row));
    }

    /* A row has its name only, until it is seen for the first time. */
    prepareRow(row, fn) {
        const { data } = this.model, name = row.querySelector(".n");
        this.columns.forEach((key, column) => {
            if (key === "name")
                return;
            const cell = element("span", key === "module" ? "m" : `num ${key}`);
            cell.setAttribute("role", "cell");
            cell.style.gridColumn = column + 1;
            if (key === "module")
                row.append(cell);
            else
                name.before(cell);
        });
        row.classList.add("row");
        row.tabIndex = -1;
        row.dataset.ready = "1";
        row.lastChild.textContent = data.bases[data.module[fn]] +
            (data.flags[fn] & INLINED ? " (inlined)" : "");
        row.lastChild.title = whereIs(data, fn);
        name.title = data.names[fn];
        if (data.flags[fn] & PSEUDO)
            name.classList.add("pseudo");
    }

    fillRow(row, fn) {
        const { data, sides } = this.model, sums = sides[1];
        if (!row.dataset.ready)
            this.prepareRow(row, fn);
        if (data.isDiff) {
            const { before, after, change, isNoise } = this.changeOf(fn);
            const size = this.model.isByRun ? this.model.amount(Math.abs(change)) : (Math.abs(change) * 100).toFixed(2);
            row.children[0].textContent = this.model.amount(before);
            row.children[1].textContent = this.model.amount(after);
            row.children[2].textContent = `${isNoise ? "≈ " : ""}${change < 0 ? "−" : "+"}${size}`;
            row.children[2].classList.toggle("more", change > 0 && !isNoise);
            row.children[2].classList.toggle("less", change < 0 && !isNoise);
        } else {
            [sums.fnSelf[fn], sums.fnTotal[fn]].forEach((value, i) => {
                const share = this.model.share(1, value), cell = row.children[i];
                cell.textContent = percent(share);
                cell.classList.add("share");
                cell.style.setProperty("--w", `${(share * 100).toFixed(1)}%`);
            });
        }
        row.classList.toggle("other", Boolean(this.matches && !this.matches[fn]));
        row.setAttribute("aria-selected", String(fn === this.chosen));
        row.tabIndex = fn === (this.chosen < 0 ? this.order[0] : this.chosen) ? 0 : -1;
    }

    clicked(event) {
        const row = event.target.closest(".r.row");
        if (row)
            this.on.choose(this.fnOf.get(row));
    }

    pressed(event) {
        const row = event.target.closest(".r.row");
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
        if (!row || (!step && event.key !== "Enter"))
            return;
        const at = this.order.indexOf(this.fnOf.get(row)) + (step ?? 0);
        const fn = this.order[Math.max(0, Math.min(at, this.order.length - 1))];
        this.on.choose(fn);
        this.rows[fn].focus();
        event.preventDefault();
    }

    choose(fn) {
        this.chosen = fn;
        this.refill();
        if (fn >= 0) {
            this.rows[fn].scrollIntoView({ block: "nearest" });
            this.fillRow(this.rows[fn], fn);
        }
        this.detail();
    }

    detail() {
        const box = byId("detail"), { data, sides } = this.model, fn = this.chosen;
        if (fn < 0) {
            box.replaceChildren(element("p", "", "Choose a function to see who calls it and whom it calls."));
            return;
        }
        const sums = sides[this.side], unit = data.events[this.model.event]?.unit ?? "";
        const { callers, callees } = this.model.neighbours(fn, this.side);
        const share = (value) => percent(this.model.share(this.side, value));
        box.replaceChildren(
            element("h2", "", data.names[fn]),
            element("p", "", whereIs(data, fn)),
            element("p", "", `self ${share(sums.fnSelf[fn])} (${inUnit(sums.fnSelf[fn], unit)}), ` +
                    `total ${share(sums.fnTotal[fn])} (${inUnit(sums.fnTotal[fn], unit)}, ` +
                    `${grouped(sums.fnSamples[fn])} samples)`),
            ...(data.isDiff ? [element("p", "", `self: ${describeChange(this.model, this.changeOf(fn))}`)] : []),
            ...this.lines(fn), ...this.edges("Callers", callers), ...this.edges("Callees", callees));
    }

    /* In their order, with their shares of what the function spent itself. */
    lines(fn) {
        const list = (this.model.data.lines.get(fn) ?? []).filter(({ event }) => event === this.model.event)
            .sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);
        const whole = list.reduce((sum, { weight }) => sum + weight, 0);
        return list.length ? [element("h3", "", "Lines, of self in the whole recording"),
                              ...list.map(({ place, file, line, weight }) => {
            const row = element("div", "edge");
            row.title = `${file}:${line}`;
            row.append(element("b", "num", percent(weight / whole)), element("span", "", `${place}${line}`));
            return row;
        })] : [];
    }

    edges(title, list) {
        const shown = list.slice(0, 200).map(([fn, value]) => {
            const edge = element("button", "edge");
            edge.type = "button";
            edge.title = this.model.data.names[fn];
            edge.append(element("b", "num", percent(this.model.share(this.side, value))),
                        element("span", "", this.model.data.names[fn]));
            edge.addEventListener("click", () => this.on.choose(fn));
            return edge;
        });
        const none = title === "Callers" ? "none: it is outermost" : "none";
        return [element("h3", "", title), ...(shown.length ? shown : [element("p", "", none)])];
    }
}
