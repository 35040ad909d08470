// Follows events as a browser does, with the package `eventsource`, which connects again by itself and
// says where it was.  Says on standard output, one JSON line each, that it is connected and what it hears.
//
//   node eventsource.mjs URL TOKEN TYPE...

import { EventSource } from "eventsource";

const [url, token, ...types] = process.argv.slice(2);

function say(object) {
    process.stdout.write(JSON.stringify(object) + "\n");
}

const source = new EventSource(url, {
    fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }),
});
source.onopen = () => say({ open: true });
source.onerror = (error) => say({ error: error.code ?? 0, gives_up: source.readyState === EventSource.CLOSED });
for (const type of types) {
    source.addEventListener(type, (event) => {
        const data = JSON.parse(event.data);
        say({ id: Number(event.lastEventId), type: event.type, seq: data.seq, session_id: data.session_id });
    });
}
