import * as v from 'valibot';
import type { Operation } from '../operations/operation.ts';
import type { Planned } from '../operations/planned.ts';
import type { Allowance } from './allowances.ts';
import * as given from './arguments.ts';
import { type Call, defineTool, type Tool } from './tool.ts';

interface OperationToolSpec<Entries extends v.ObjectEntries, Request, P extends Planned<Request, object>, Result> {
  name: string;
  title: string;
  description: string;
  needs?: Allowance;
  input: Entries;
  warningsKey?: string;
  operation: Operation<Request, P, Result>;
  request: (
    call: Call,
    given: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
  ) => NoInfer<Request> | Promise<NoInfer<Request>>;
}

/** The tool of an operation that adds something, which needs no plan. */
export function creatingTool<
  const Entries extends v.ObjectEntries,
  Request,
  P extends Planned<Request, object>,
  Result extends object,
>({ input, operation, request, ...spec }: OperationToolSpec<Entries, Request, P, Result>): Tool {
  return defineTool({
    ...spec,
    effect: 'creates',
    output: outputOf(operation),
    input: v.strictObject(input),
    async run(call, asked) {
      const { plan, apply } = await operation.work();
      return { data: await apply(call.context, await plan(call.context, await request(call, asked))) };
    },
  });
}

interface PlannedToolsSpec<Entries extends v.ObjectEntries, Request, P extends Planned<Request, object>, Result>
  extends OperationToolSpec<Entries, Request, P, Result> {
  planTitle: string;
  plans: string;
  planNeeds?: Allowance;
  /** `false`: the command has no dry run, and so no shape of a plan. Default `true`. */
  hasPlanShape?: boolean;
}

/** The tool that plans an operation that replaces something, named `plan_…`, and the tool that applies it by a token of the plan. */
export function plannedTools<
  const Entries extends v.ObjectEntries,
  Request,
  P extends Planned<Request, object>,
  Result extends object,
>(spec: PlannedToolsSpec<Entries, Request, P, Result>): [Tool, Tool] {
  const { name, title, description, needs, planNeeds, input, operation, request } = spec;
  const output = outputOf(operation);
  const planTool = defineTool({
    name: `plan_${name}`,
    ...{
      title: spec.planTitle,
      description: spec.plans,
      effect: 'reads',
      ...(spec.hasPlanShape !== false && { output }),
    },
    ...(planNeeds && { needs: planNeeds }),
    input: v.strictObject(input),
    async run(call, asked) {
      const { plan } = await operation.work();
      const planned = await plan(call.context, await request(call, asked));
      const data = { dry_run: true, plan: planned.plan };
      const isOffered = !call.readOnly && (needs === undefined || call.allow.has(needs));
      if (!isOffered) return { data };
      return { data: { ...data, ...call.tokens.issue({ tool: name, given: asked, planned }) } };
    },
  });
  const applyTool = defineTool({
    ...{ name, title, description, effect: 'replaces', output, ...(needs && { needs }) },
    input: v.strictObject({ ...input, token: given.token }),
    async run({ context, tokens }, { token, ...asked }) {
      const planned = tokens.take<P>(token, { tool: name, given: asked });
      const { apply } = await operation.work();
      return { data: await apply(context, planned) };
    },
  });
  return [planTool, applyTool];
}

function outputOf({ id }: { id: string }): string {
  return `done.${id.replace(' ', '-')}`;
}
