import * as v from 'valibot';

export interface Details {
  details: Record<string, unknown>;
}

/** Reads a part of a manifest's details; `null` where an earlier version, or the other engine, did not record it. */
export function readDetail<Schema extends v.GenericSchema>(
  { details }: Details,
  key: string,
  schema: Schema,
): v.InferOutput<Schema> | null {
  const parsed = v.safeParse(schema, Object.hasOwn(details, key) ? details[key] : undefined);
  return parsed.success ? parsed.output : null;
}
