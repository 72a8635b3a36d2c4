import type { Fact } from '../../presentation/shapes/fact.ts';
import type { SaveRow } from '../../results/results.ts';
import { formatAge, formatTime } from '../../text/format.ts';

/** `save before-migration of shop` */
export function saveName(target: string, name: string): string {
  return `save ${name} of ${target}`;
}

/** `before-migration, created 5 min ago (2026-11-26 15:04), index 0` */
export function saveFact({ name, index, created_at }: Pick<SaveRow, 'name' | 'index' | 'created_at'>, now: Date): Fact {
  const age = formatAge(now.getTime() - Date.parse(created_at));
  return { name: 'Save', value: `${name}, created ${age} (${formatTime(created_at)}), index ${index}` };
}
