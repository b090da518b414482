// A way to a server that can be cut and opened again, as that through a network can.
import { connect, createServer } from "node:net";

export class Tunnel {
    // Opens a way to the server at this address, with the same token.
    static async to(address) {
        const { port, search } = new URL(address);
        const tunnel = new Tunnel(Number(port));
        const own = await tunnel.open();
        tunnel.address = `http://127.0.0.1:${own}/${search}`;
        return tunnel;
    }

    constructor(port) {
        this.port = port;
        this.own = 0;
        this.sockets = new Set();
    }

    // Listens, where it did before if it did, and gives the port.
    async open() {
        this.server = createServer((here) => {
            const there = connect(this.port, "127.0.0.1");
            for (const [from, to] of [[here, there], [there, here]]) {
                this.sockets.add(from);
                from.on("error", () => to.destroy());
                from.on("close", () => (this.sockets.delete(from), to.destroy()));
                from.pipe(to);
            }
        });
        await new Promise((done) => this.server.listen(this.own, "127.0.0.1", done));
        this.own = this.server.address().port;
        return this.own;
    }

    // Ends all connections, and takes no more.
    async cut() {
        const closed = new Promise((done) => this.server.close(done));
        for (const socket of this.sockets) socket.destroy();
        await closed;
    }
}
