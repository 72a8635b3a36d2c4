import type { Configuration } from './configuration.ts';

export function connectionUrl({ settings }: Configuration, key: string): string | undefined {
  let value: unknown = settings;
  for (const part of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value as string | undefined;
}
