import { quoteName } from '../connection/quote.ts';
import type { ArchiveDetails } from '../dump/archive.ts';

const FUNCTIONS = 3;
const SCHEMAS = 20;
const SEARCH_PATH = 'search_path=';
/** Settings and names of a snapshot are from outside, and a hint is copied. */
const NAMES = /^(?:\w+|"[^"]*")(?:, ?(?:\w+|"[^"]*"))*$/;
const FUNCTION = /^[a-z_]\w*\.[a-z_]\w*\([\w ,.[\]]*\)$/;

/**
 * Returns the hint for a restore that the server has refused, by the names in its message and not by its language: a
 * schema that the snapshot does not contain, or functions that find what they call only by the source's search path.
 * Empty when it knows no fix.
 */
export function failureHint(lines: string[], details: ArchiveDetails): string {
  const text = lines.join('\n');
  const schema = details.left_out_schemas?.map((leftOut) => leftOut.schema).find((name) => mentions(text, name));
  if (schema !== undefined) {
    return `Schema ${schema} is not in the snapshot, and a function or expression needs it: add it to the target's schema_config.include_schemas and build again.`;
  }
  const functions = (details.inventory.objects.function ?? []).filter(
    (name) => FUNCTION.test(name) && mentions(text, bareName(name)),
  );
  if (functions.length === 0) return '';
  const schemas = searchPath(details);
  const statements = functions
    .slice(0, FUNCTIONS)
    .map((name) => `ALTER FUNCTION ${name} SET search_path = ${schemas};`);
  return `A restore has an empty search_path. If a function calls others without their schema, run on the source and build again: ${statements.join(' ')}`;
}

/** The database's own search path; by default that of the server, then the further schemas. */
function searchPath({ settings, schemas }: ArchiveDetails): string {
  const own = settings.find((setting) => setting.startsWith(SEARCH_PATH))?.slice(SEARCH_PATH.length);
  if (own !== undefined && NAMES.test(own)) return `${own}, pg_temp`;
  const names = schemas.map(({ name }) => name);
  const publicFirst = [...names.filter((name) => name === 'public'), ...names.filter((name) => name !== 'public')];
  return [...publicFirst.slice(0, SCHEMAS).map(quoteName), 'pg_temp'].join(', ');
}

/** `public.f(integer)` → `f`. */
function bareName(name: string): string {
  return name.slice(0, name.indexOf('(')).split('.').at(-1) ?? '';
}

/** Matches the name as a word of its own: `f` is not in `of`. */
function mentions(text: string, name: string): boolean {
  if (name === '') return false;
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w$])${escaped}(?![\\w$])`).test(text);
}
