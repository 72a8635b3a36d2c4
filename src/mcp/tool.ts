import type * as v from 'valibot';
import type { Context } from '../runtime/context.ts';
import type { Semaphore } from '../runtime/semaphore.ts';
import type { Allowance } from './allowances.ts';
import type { PlanTokens } from './plan-tokens.ts';

/** `reads` changes nothing; `creates` adds something; `replaces` replaces or removes something and requires a plan's token. */
export type ToolEffect = 'reads' | 'creates' | 'replaces';

export interface ToolSpec<Schema extends v.GenericSchema<unknown, object> = v.GenericSchema<unknown, object>> {
  name: string;
  title: string;
  description: string;
  effect: ToolEffect;
  input: Schema;
  /** The shape of the result in assets/events.schema.json. */
  output?: string;
  /** Offered with this word of --allow only. */
  needs?: Allowance;
  /** Key of the answer with the warnings of the run, where the result has other warnings. Default: `warnings`. */
  warningsKey?: string;
  run(call: Call, given: v.InferOutput<Schema>): Promise<ToolResult>;
}

/** A tool with arguments of any type, which its input schema has checked. */
export type Tool = ToolSpec;

export interface Call {
  context: Context;
  /** The agent, which branches are recorded with. */
  owner: string;
  allow: ReadonlySet<Allowance>;
  readOnly: boolean;
  tokens: PlanTokens;
  /** Runs work that counts before it adds, one at a time in the session. */
  inTurn: Semaphore;
}

export interface ToolResult {
  data: object;
  /** Top-level keys of the answer that may contain a password, which the caller has allowed. */
  secret?: Record<string, string>;
}

/** Keeps the types of the arguments of a tool. */
export function defineTool<const Schema extends v.GenericSchema<unknown, object>>(spec: ToolSpec<Schema>): Tool {
  return spec;
}
