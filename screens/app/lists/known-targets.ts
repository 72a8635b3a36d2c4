import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KnownTarget } from '../../../src/state/targets.ts';

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

/** The targets seen from one folder and configuration file. */
interface RememberedTargets {
  place: string;
  targets: KnownTarget[];
}

const FORMAT = 3;
const PLACES_KEPT = 20;

/**
 * Caches the state of the targets for the first frame of the next session, without passwords. One file instead of one
 * per hashed folder: loading node:crypto takes a tenth of the time to the first frame.
 */
export function knownTargets({ environment, cwd, config = '' }: KnownTargetsOptions): KnownTargets {
  const file = cacheFile(environment, 'targets.json');
  const here = `${cwd}\n${config}`;
  return {
    read: () => readRemembered(file).find(({ place }) => place === here)?.targets ?? [],
    write(targets) {
      const others = readRemembered(file).filter(({ place }) => place !== here);
      writeRemembered(file, [...others, { place: here, targets }].slice(-PLACES_KEPT));
    },
  };
}

/** A file in the user's cache folder. */
export function cacheFile(environment: NodeJS.ProcessEnv, name: string): string {
  const cache = environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache');
  return join(cache, 'tool', name);
}

function readRemembered(file: string): RememberedTargets[] {
  try {
    const { format, remembered } = JSON.parse(readFileSync(file, 'utf8'));
    return format === FORMAT ? remembered : [];
  } catch {
    return [];
  }
}

function writeRemembered(file: string, remembered: RememberedTargets[]): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify({ format: FORMAT, remembered }), { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    // Without a cache the next first frame is empty.
  }
}
