import { createServer } from 'node:net';

export function freePort(): Promise<number> {
  return listen(0);
}

const ATTEMPTS = 3;

/** Calls `start` with a free port, and with another one where it fails because another process has taken that meanwhile. */
export async function withFreePort<Result>(
  start: (port: number) => Promise<Result>,
  findPort: () => Promise<number> = freePort,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    try {
      return await start(port);
    } catch (error) {
      if (attempt === ATTEMPTS || (await isFree(port))) throw error;
    }
  }
}

export async function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  );
}

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
