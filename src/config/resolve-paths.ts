import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Origins, variableOf } from './finding.ts';
import type { Settings } from './schema/settings.ts';
import type { Shape } from './schema/shape.ts';
import type { Tree } from './tree.ts';
import { walkValues } from './walk-values.ts';

export interface PathContext {
  shape: Shape;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  origins: Origins;
}

/** Makes all paths absolute. A relative one starts at the file that says it, or where the tool was called. */
export function resolvePaths(settings: Settings, { shape, environment, cwd, origins }: PathContext): void {
  walkValues(settings as unknown as Tree, shape, ({ path, shape: { traits }, value, replace }) => {
    if (!traits.path || typeof value !== 'string') return;
    const file = variableOf(path, origins.variables) === null ? origins.file : null;
    replace(resolve(file ? dirname(file.path) : cwd, expandHome(value, environment)));
  });
}

export function expandHome(path: string, { HOME }: NodeJS.ProcessEnv): string {
  return path.replace(/^~(?=\/|$)/, () => HOME || homedir());
}
