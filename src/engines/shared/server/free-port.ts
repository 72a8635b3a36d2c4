import { createServer } from 'node:net';

/** A port of this machine that was free a moment ago. */
export function freePort(): Promise<number> {
  return listen(0);
}

export async function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  );
}

/** Takes a port and gives it back; resolves with its number. */
function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
