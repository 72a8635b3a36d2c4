import * as v from 'valibot';
import type { Context } from '../runtime/context.ts';
import { isSignedState, signState } from './state-signature.ts';
import { readState, type StateFile, writeState } from './working-state.ts';

interface SignedFile<Schema extends v.GenericSchema> extends StateFile<Schema> {
  /** Words for what is stated: a signature is invalid in any other context. */
  purpose: string;
}

const signedSchema = v.strictObject({ content: v.record(v.string(), v.unknown()), signature: v.string() });

/** Returns what this user has written; `undefined` without it. Throws where it cannot be read, or is damaged. */
export async function readSignedState<Schema extends v.GenericSchema>(
  context: Context,
  { name, schema, purpose }: SignedFile<Schema>,
): Promise<v.InferOutput<Schema> | undefined> {
  const stored = await readState(context, { name, schema: signedSchema });
  if (!stored) return;
  const { content, signature } = stored;
  const isOwn = await isSignedState(context, { purpose, content: { name, ...content }, signature });
  return isOwn ? v.parse(schema, content) : undefined;
}

/** Throws where no key can be kept. */
export async function writeSignedState<Schema extends v.GenericSchema<Record<string, unknown>>>(
  context: Context,
  { name, purpose }: SignedFile<Schema>,
  content: v.InferOutput<Schema>,
): Promise<void> {
  const signature = await signState(context, { purpose, content: { name, ...content } });
  await writeState(context, { name, schema: signedSchema }, { content, signature });
}
