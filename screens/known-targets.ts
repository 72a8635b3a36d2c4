import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KnownTarget } from '../src/state/targets.ts';

export interface KnownTargets {
  read(): KnownTarget[];
  write(targets: KnownTarget[]): void;
}

export interface KnownTargetsOptions {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** The file given with `--config`. */
  config?: string | undefined;
}

const FORMAT = 1;

/**
 * What was found of the targets the last time, for a first frame that waits for nothing. URLs in it have no passwords.
 * It is a cache: whatever is wrong with it, the screens open without it.
 */
export function knownTargets({ environment, cwd, config = '' }: KnownTargetsOptions): KnownTargets {
  const cache = environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache');
  const place = createHash('sha256').update(`${cwd}\0${config}`).digest('hex').slice(0, 16);
  const file = join(cache, 'tool', `targets-${place}.json`);
  return {
    read() {
      try {
        const { format, targets } = JSON.parse(readFileSync(file, 'utf8'));
        return format === FORMAT ? targets : [];
      } catch {
        return [];
      }
    },
    write(targets) {
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        const temporary = `${file}.${process.pid}`;
        writeFileSync(temporary, JSON.stringify({ format: FORMAT, targets }), { mode: 0o600 });
        renameSync(temporary, file);
      } catch {
        // A read-only home costs the next session its head start, no more.
      }
    },
  };
}
