import * as v from 'valibot';
import { formatNumberOf } from '../text/format.ts';

/** Objects of a source that its user could not read, and that a snapshot therefore lacks. */
export function hiddenSchema(text: v.GenericSchema<string>) {
  return v.object({
    /** `view`, `trigger`, `routine` … */
    kind: v.pipe(v.string(), v.regex(/^[a-z ]{1,64}$/, 'must be a kind of object')),
    /** Empty where the server does not even tell whether there are any. */
    names: bounded(text),
    /** Only those of these tables, where not of all. */
    tables: v.exactOptional(bounded(text)),
    /** The missing right; absent where the reason is another. */
    right: v.exactOptional(text),
  });
}

function bounded(text: v.GenericSchema<string>) {
  return v.pipe(v.array(text), v.maxLength(MOST_NAMES));
}

const MOST_NAMES = 1_000_000;

export type HiddenObjects = v.InferOutput<ReturnType<typeof hiddenSchema>>;

const recorded = v.object({ hidden: v.array(hiddenSchema(v.string())) });

/** By a manifest's details; none in snapshots of earlier versions. */
export function hiddenObjectsOf({ details }: { details: Record<string, unknown> }): HiddenObjects[] {
  const { success, output } = v.safeParse(recorded, details);
  return success ? output.hidden : [];
}

/** As a manifest's details record them. */
export function hiddenDetails(hidden: HiddenObjects[]): { hidden?: HiddenObjects[] } {
  return hidden.length > 0 ? { hidden } : {};
}

const MOST_NAMED = 10;

/** `views v, w (SHOW VIEW); any triggers of orders (TRIGGER)` */
export function hiddenText(hidden: HiddenObjects[]): string {
  return hidden
    .map((objects) => `${whatIsHidden(objects)}${objects.right === undefined ? '' : ` (${objects.right})`}`)
    .join('; ');
}

/** `view v`, `views v, w`, `any triggers of orders` */
export function whatIsHidden({ kind, names, tables }: Pick<HiddenObjects, 'kind' | 'names' | 'tables'>): string {
  if (names.length > 0) return `${kind}${names.length === 1 ? '' : 's'} ${shortList(names, 'more')}`;
  return `any ${kind}s${tables === undefined ? '' : ` of ${shortList(tables, 'table')}`}`;
}

function shortList(names: string[], rest: 'more' | 'table'): string {
  const more = names.length - MOST_NAMED;
  if (more <= 0) return names.join(', ');
  const amount = rest === 'more' ? `${more} more` : formatNumberOf(more, 'more table');
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${amount}`;
}
