import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import { findOwnServer, firstLines, type ServerKind, stopOwnServer } from '../../shared/server/own-server.ts';

/** The folder of the data within that of the server. */
export const DATA = 'data';

export const KIND: ServerKind = {
  pidFile: join(DATA, 'postmaster.pid'),
  argumentOf: (directory) => `-D ${join(directory, DATA)}`,
  signals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
  lastSignal: 'QUIT',
};

/** Reports whether the server accepts connections: line 8 of its file is its state. */
export async function isReady(directory: string): Promise<boolean> {
  return (await firstLines(join(directory, KIND.pidFile)))[7]?.trim() === 'ready';
}

export function findServer(context: EngineContext, directory: string): Promise<number | null> {
  return findOwnServer(context, KIND, directory);
}

export function stopServer(context: EngineContext, directory: string): Promise<void> {
  return stopOwnServer(context, KIND, directory);
}
