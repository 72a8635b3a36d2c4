import { availableParallelism } from 'node:os';
import type { Context } from '../runtime/context.ts';

export function cpusFor({ configuration: { settings } }: Context, target: string): number {
  const half = Math.max(1, Math.floor(availableParallelism() / 2));
  return settings.targets[target]?.cpus ?? settings.defaults.cpus ?? half;
}
