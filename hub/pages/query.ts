import type * as v from 'valibot';
import { type HonoContext, parsed, queryOf } from '../http/request.ts';

/** The values of a form; empty inputs are left out. Throws `cloud_refused`. */
export function formOf<Schema extends v.GenericSchema<unknown, Record<string, string | undefined>>>(
  context: HonoContext,
  schema: Schema,
): v.InferOutput<Schema> & Record<string, string> {
  const given = Object.entries(queryOf(context)).map(([name, value]) => [name, value.trim()] as const);
  const filled = Object.fromEntries(given.filter(([, value]) => value !== ''));
  return parsed(schema, filled, '/query') as v.InferOutput<Schema> & Record<string, string>;
}
