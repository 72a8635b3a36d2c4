import * as v from 'valibot';
import type { Operation } from '../operations/operation.ts';
import type { Planned } from '../operations/planned.ts';
import type { Allowance } from './allowances.ts';
import * as given from './arguments.ts';
import { type Call, defineTool, type Tool, type ToolEffect } from './tool.ts';

interface PlannedToolsSpec<Entries extends v.ObjectEntries, Request, P extends Planned<Request, object>, Result> {
  /** Name of the tool that applies; the other is named `plan_…`. */
  name: string;
  planTitle: string;
  plans: string;
  title: string;
  description: string;
  /** `replaces` requires the token of a plan. */
  effect: Exclude<ToolEffect, 'reads'>;
  needs?: { plan?: Allowance; apply?: Allowance };
  input: Entries;
  warningsKey?: string;
  operation: Operation<Request, P, Result>;
  /** `false`: the command has no dry run, and so no shape of a plan. Default `true`. */
  hasPlanShape?: boolean;
  request: (
    call: Call,
    given: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
  ) => NoInfer<Request> | Promise<NoInfer<Request>>;
}

/** The tool that plans an operation, and the tool that applies it. */
export function plannedTools<
  const Entries extends v.ObjectEntries,
  Request,
  P extends Planned<Request, object>,
  Result extends object,
>(spec: PlannedToolsSpec<Entries, Request, P, Result>): [Tool, Tool] {
  const { name, title, description, effect, needs = {}, input, operation, request, warningsKey } = spec;
  const output = `done.${operation.id.replace(' ', '-')}`;
  const plan = async (call: Call, asked: Parameters<typeof request>[1]): Promise<P> => {
    const { plan: makePlan } = await operation.work();
    return makePlan(call.context, await request(call, asked));
  };
  const planTool = defineTool({
    name: `plan_${name}`,
    ...{
      title: spec.planTitle,
      description: spec.plans,
      effect: 'reads',
      ...(spec.hasPlanShape !== false && { output }),
    },
    ...(needs.plan && { needs: needs.plan }),
    input: v.strictObject(input),
    async run(call, asked) {
      const planned = await plan(call, asked);
      const data = { dry_run: true, plan: planned.plan };
      const isOffered = !call.readOnly && (needs.apply === undefined || call.allow.has(needs.apply));
      if (effect === 'creates' || !isOffered) return { data };
      return { data: { ...data, ...call.tokens.issue({ tool: name, given: asked, planned }) } };
    },
  });
  const common = {
    name,
    title,
    description,
    effect,
    output,
    ...(needs.apply && { needs: needs.apply }),
    ...(warningsKey !== undefined && { warningsKey }),
  };
  if (effect === 'creates') {
    const create = defineTool({
      ...common,
      input: v.strictObject(input),
      async run(call, asked) {
        const { apply } = await operation.work();
        return { data: await apply(call.context, await plan(call, asked)) };
      },
    });
    return [planTool, create];
  }
  const applyTool = defineTool({
    ...common,
    input: v.strictObject({ ...input, token: given.token }),
    async run({ context, tokens }, { token, ...asked }) {
      const planned = tokens.take<P>(token, { tool: name, given: asked });
      const { apply } = await operation.work();
      return { data: await apply(context, planned) };
    },
  });
  return [planTool, applyTool];
}
