import * as v from 'valibot';

// Product code imports the types of this folder only: a start of the program builds no schema of a result.

export const text = v.string();

export const number = v.number();

export const flag = v.boolean();

export const texts = v.array(text);

export const orNull = v.nullable;

export const optional = v.exactOptional;

/** An object whose keys are not part of the contract. */
export const open = v.record(text, v.unknown());

export const warnings = v.array(v.object({ code: text, message: text }));

/** Adds the description of a field, which the JSON Schema of `--json` has, too. */
export function describe<Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(schema, v.description(description));
}
