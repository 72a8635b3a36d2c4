import type * as v from 'valibot';

/** Compiles only where the schema has exactly the keys of the type, with values of the same types. */
export function matches<Type>() {
  return <Schema extends v.GenericSchema<unknown, Type>>(schema: Exact<Type, Schema>): Schema => schema as Schema;
}

type Exact<Type, Schema extends v.GenericSchema<unknown, Type>> = [Type] extends [v.InferOutput<Schema>]
  ? [keyof Type] extends [keyof v.InferOutput<Schema>]
    ? Schema
    : never
  : never;
