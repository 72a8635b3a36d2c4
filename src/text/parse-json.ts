import * as v from 'valibot';

/** Returns the value of a JSON text that has the schema; `null` for any other text. */
export function parseJsonAs<Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.InferOutput<Schema> | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  return parsed.success ? parsed.output : null;
}
