/* SPDX-License-Identifier: Apache-2.0 */

/* What is looked at, in the fragment of the page's address: a copied address shows the same. */

class Fragment {
    /* `parts`: of each name { text(), show(text) }, in the order in which they are shown; a text is
     * "" where nothing is chosen, and a text that fits nothing here chooses nothing. */
    constructor(parts) {
        this.parts = parts;
        this.write = perFrame(() => this.put());
        window.addEventListener("hashchange", () => this.show());
    }

    put() {
        const words = new URLSearchParams(Object.entries(this.parts)
            .map(([name, { text }]) => [name, text()]).filter(([, text]) => text));
        const hash = words.size ? `#${words}` : "";
        if (hash !== location.hash)
            history.replaceState(null, "", location.href.split("#")[0] + hash);
    }

    show() {
        const words = new URLSearchParams(location.hash.slice(1));
        for (const [name, { show }] of Object.entries(this.parts))
            show(words.get(name) ?? "");
    }
}
