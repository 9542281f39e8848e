/* SPDX-License-Identifier: Apache-2.0 */

/* The picture of frames: draws a layout, follows mouse and keys. */

const ROW = 18, FONT = "11.5px", CHAR_MIN = 6;

class Flame {
    /* `on`: { zoom(node), choose(fn), say(text), tip(event, node) } */
    constructor(model, colours, on) {
        Object.assign(this, { model, colours, on });
        this.canvas = byId("flame-canvas");
        this.pane = byId("flame");
        this.space = byId("flame-space");
        this.side = 1;
        this.zoom = 0;
        this.cursor = 0;
        this.hover = 0;
        this.isIcicle = false;
        this.matches = null;
        this.draw = perFrame(() => this.paint());
        this.isAtRoots = true;
        this.pane.addEventListener("scroll", () => this.scrolled(), { passive: true });
        this.canvas.addEventListener("mousemove", (event) => this.moved(event));
        this.canvas.addEventListener("mouseleave", (event) => this.pointAt(event, 0));
        this.canvas.addEventListener("click", (event) => this.clicked(event));
        this.canvas.addEventListener("keydown", (event) => this.pressed(event));
        this.canvas.addEventListener("focus", this.draw);
        this.canvas.addEventListener("blur", this.draw);
        new ResizeObserver(perFrame(() => this.update())).observe(this.pane);
    }

    /* After sums, zoom, width or direction changed. */
    update() {
        const width = this.pane.clientWidth;
        this.layout = new Layout(this.model, this.side, this.zoom, width);
        this.shownHeight = this.pane.clientHeight;
        this.height = Math.max(this.layout.rows.length * ROW, this.shownHeight);
        this.space.style.height = `${this.height - this.pane.clientHeight}px`;
        if (width && this.shownHeight)
            prepare(this.canvas, width, this.shownHeight);
        if (this.isAtRoots)
            this.showRoots();
        this.paint();
    }

    /* Where a person scrolled to; that the pane got lower or higher meanwhile is no scrolling. */
    scrolled() {
        const { scrollTop, clientHeight } = this.pane;
        if (clientHeight === this.shownHeight)
            this.isAtRoots = this.isIcicle ? scrollTop < ROW : scrollTop + clientHeight > this.height - ROW;
        this.draw();
    }

    showRoots() {
        this.isAtRoots = true;
        this.pane.scrollTop = this.isIcicle ? 0 : this.height;
    }

    top(depth) {
        return this.isIcicle ? depth * ROW : this.height - (depth + 1) * ROW;
    }

    depthAt(y) {
        return Math.floor((this.isIcicle ? y : this.height - y) / ROW);
    }

    paint() {
        const width = this.pane.clientWidth, height = this.pane.clientHeight;
        if (!width || !height || !this.layout)
            return;
        const context = prepare(this.canvas, width, height);
        const scroll = this.pane.scrollTop;
        context.clearRect(0, 0, width, height);
        context.font = `${FONT} ${getComputedStyle(document.body).getPropertyValue("--mono")}`;
        context.textBaseline = "middle";
        this.charWidth = Math.max(context.measureText("0").width, CHAR_MIN);
        this.nrDrawn = 0;
        const one = this.depthAt(scroll), other = this.depthAt(scroll + height - 1);
        const last = Math.min(Math.max(one, other), this.layout.rows.length - 1);
        for (let depth = Math.max(0, Math.min(one, other)); depth <= last; depth++)
            this.paintRow(context, depth, this.top(depth) - scroll, width);
        this.outline(context, scroll, width);
    }

    paintRow(context, depth, y, width) {
        const row = this.layout.rows[depth];
        for (let i = 0; i < row.nodes.length; i++) {
            const x = row.left[i] * width, wide = (row.right[i] - row.left[i]) * width;
            this.paintFrame(context, row.nodes[i], x, y, wide);
        }
    }

    paintFrame(context, node, x, y, wide) {
        const inner = wide > 3 ? wide - 1 : Math.max(wide - 0.3, 0.4);
        const isOuter = node !== this.zoom && this.model.depth[node] < this.model.depth[this.zoom];
        this.nrDrawn++;
        context.globalAlpha = isOuter ? 0.55 : 1;
        context.fillStyle = this.fill(node);
        context.fillRect(x, y, inner, ROW - 1);
        if (wide > 5 * this.charWidth)
            this.label(context, node, x, y, inner);
        context.globalAlpha = 1;
    }

    fill(node) {
        if (!this.matches || !node)
            return this.colours.ofNode(node);
        return this.matches[this.model.data.fn[node]] ? this.colours.match() : this.colours.rest();
    }

    label(context, node, x, y, wide) {
        const room = Math.floor((wide - 6) / this.charWidth);
        const text = fitName(this.nameOf(node), room);
        const isPseudo = node && this.model.data.flags[this.model.data.fn[node]] & PSEUDO;
        context.fillStyle = this.colours.ink();
        if (isPseudo)
            context.globalAlpha *= 0.7;
        context.fillText(text, x + 4, y + ROW / 2);
    }

    nameOf(node) {
        return node ? this.model.data.names[this.model.data.fn[node]] : "all";
    }

    outline(context, scroll, width) {
        const isFocused = document.activeElement === this.canvas;
        for (const [node, lines] of [[this.hover, 1], [isFocused ? this.cursor : 0, 2]]) {
            const place = (node || lines === 2) && this.layout.find(node, this.model.depth[node]);
            if (!place || (lines === 2 && !isFocused))
                continue;
            const row = this.layout.rows[place.depth];
            const x = row.left[place.index] * width;
            context.strokeStyle = this.colours.ink();
            context.lineWidth = lines;
            context.strokeRect(x + 0.5, this.top(place.depth) - scroll + 0.5,
                               Math.max((row.right[place.index] - row.left[place.index]) * width - 2, 1),
                               ROW - 2);
        }
    }

    nodeAt(event) {
        const box = this.canvas.getBoundingClientRect();
        const depth = this.depthAt(event.clientY - box.top + this.pane.scrollTop);
        const index = this.layout.indexAt(depth, (event.clientX - box.left) / box.width);
        return index < 0 ? -1 : this.layout.rows[depth].nodes[index];
    }

    moved(event) {
        this.pointAt(event, Math.max(this.nodeAt(event), 0));
    }

    pointAt(event, node) {
        this.on.tip(event, node);
        if (node !== this.hover) {
            this.hover = node;
            this.draw();
        }
    }

    clicked(event) {
        const node = this.nodeAt(event);
        if (node < 0)
            return;
        this.cursor = node;
        this.choose(node);
        this.on.zoom(node);
    }

    choose(node) {
        if (node)
            this.on.choose(this.model.data.fn[node]);
    }

    pressed(event) {
        const deeper = this.isIcicle ? "ArrowDown" : "ArrowUp";
        const moves = {
            [deeper]: () => this.firstChild(),
            [this.isIcicle ? "ArrowUp" : "ArrowDown"]: () => this.model.data.parent[this.cursor],
            ArrowLeft: () => this.beside(-1),
            ArrowRight: () => this.beside(1),
            Home: () => 0,
        };
        if (event.key === "Enter" || event.key === " ") {
            this.choose(this.cursor);
            this.on.zoom(this.cursor);
        } else if (event.key === "Backspace") {
            this.on.zoom(this.zoom ? this.model.data.parent[this.zoom] : 0);
        } else if (moves[event.key]) {
            this.walkTo(moves[event.key]());
        } else {
            return;
        }
        event.preventDefault();
    }

    /* The greatest that is drawn. */
    firstChild() {
        const row = this.layout.rows[this.model.depth[this.cursor] + 1];
        const children = row?.nodes.filter((node) => this.model.data.parent[node] === this.cursor);
        return children?.length ? children[0] : this.cursor;
    }

    beside(step) {
        const place = this.layout.find(this.cursor, this.model.depth[this.cursor]);
        const next = place && this.layout.rows[place.depth].nodes[place.index + step];
        return next === undefined || next === null ? this.cursor : next;
    }

    walkTo(node) {
        this.cursor = node;
        this.hover = 0;
        this.scrollTo(this.model.depth[node]);
        this.on.say(this.describe(node).join(", "));
        this.draw();
    }

    scrollTo(depth) {
        const top = this.top(depth);
        if (top < this.pane.scrollTop)
            this.pane.scrollTop = top;
        else if (top + ROW > this.pane.scrollTop + this.pane.clientHeight)
            this.pane.scrollTop = top + ROW - this.pane.clientHeight;
    }

    /* Sentences about a frame, the name first. */
    describe(node) {
        const { data, sides } = this.model, sums = sides[this.side];
        const unit = data.events[this.model.event]?.unit ?? "";
        const lines = [this.nameOf(node)];
        if (node) {
            const where = whereIs(data, data.fn[node]);
            if (where)
                lines.push(where);
        }
        lines.push(`total ${percent(this.model.share(this.side, sums.total[node]))}: ` +
                   `${inUnit(sums.total[node], unit)}, ${grouped(sums.samples[node])} samples`);
        lines.push(`self ${percent(this.model.share(this.side, sums.self[node]))}: ` +
                   inUnit(sums.self[node], unit));
        if (data.isDiff)
            lines.push(describeChange(this.model, this.model.nodeChange(node)));
        return lines;
    }
}

function describeChange(model, { change, reach, isNoise }) {
    const sign = change < 0 ? "−" : "+", scale = model.isByRun ? " a run" : "";
    const amount = model.isByRun ? model.amount(Math.abs(change)) : `${(Math.abs(change) * 100).toFixed(2)} points`;
    return `change ${sign}${amount}${scale}${isNoise ? " (within noise)" : ` (± ${model.amount(reach)})`}`;
}
