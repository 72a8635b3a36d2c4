import { connect, createServer, type Socket } from 'node:net';

/** Passes each connection on to the next of the given ports of this machine, as a load balancer does. */
export interface TcpProxy {
  port: number;
  /** What went over all connections, in both directions. */
  bytes: Buffer[];
  /** While it is down, connections end at once, also those that are there. */
  set(state: 'up' | 'down'): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(...ports: number[]): Promise<TcpProxy> {
  let count = 0;
  const bytes: Buffer[] = [];
  const sockets = new Set<Socket>();
  let isUp = true;
  const server = createServer((near) => {
    if (!isUp) {
      near.on('error', () => {}).destroy();
      return;
    }
    const far = connect(ports[count % ports.length] ?? 0, '127.0.0.1');
    count += 1;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => {
        bytes.push(chunk);
        to.write(chunk);
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    bytes,
    set(state) {
      isUp = state === 'up';
      if (!isUp) dropAll();
    },
    stop() {
      dropAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
