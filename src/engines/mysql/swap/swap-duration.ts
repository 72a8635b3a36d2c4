import type { WarningEvent } from '../../../results/events.ts';
import { formatDuration, formatNumberOf } from '../../../text/format.ts';
import { type Flavour, LABELS } from '../catalog/introspect.ts';

/** Names up to which the swap takes no noticeable time. */
export const FEW_NAMES = 100;

/** Milliseconds for each name of a RENAME TABLE: on an idle server, and on one whose disk is busy (docs/mysql.md). */
const EACH: Record<Flavour, [least: number, most: number]> = { mariadb: [1, 9], mysql: [6, 22] };

/** The time without a destination, stated in the plan: a RENAME TABLE of thousands of names takes seconds. */
export function longSwapWarnings(
  names: number,
  { flavour, database }: { flavour: Flavour; database: string },
): WarningEvent[] {
  if (names <= FEW_NAMES) return [];
  const [least, most] = EACH[flavour].map((each) => formatDuration(each * names));
  const message = `The swap renames ${formatNumberOf(names, 'table')} in one statement: ${database} will be unavailable for ${least} to ${most} (${LABELS[flavour]}, by the speed of its disk). Where it already has the same tables, small and without triggers, their rows are exchanged instead, and reads continue`;
  return [{ event: 'warning', code: 'long_swap', message }];
}
