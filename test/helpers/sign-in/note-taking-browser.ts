import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SignInWorld } from './signed-in.ts';

/** A browser that writes down where it is sent, and the environment in which it is the person's. */
export async function noteTakingBrowser({ folder }: Pick<SignInWorld, 'folder'>) {
  const visited = join(folder, 'visited');
  await writeFile(
    join(folder, 'browser'),
    `#!/bin/sh\nprintf %s "$1" > ${visited}.new && mv ${visited}.new ${visited}\n`,
    {
      mode: 0o755,
    },
  );
  return {
    environment: { HOME: folder, TOOL_TRUST: 'true', PATH: process.env.PATH ?? '', BROWSER: join(folder, 'browser') },
    url: () => expect.poll(() => readFile(visited, 'utf8').catch(() => ''), { timeout: 20_000 }).toContain('http'),
    visited: () => readFile(visited, 'utf8'),
  };
}
