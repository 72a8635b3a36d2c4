import type { LoadResult } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { refuseUnshared } from '../sign-in/sharing.ts';
import { planScript } from './plan-script.ts';
import { planSnapshot } from './plan-snapshot.ts';
import type { LoadRequest, PlannedLoad } from './planned-load.ts';

/** Looks at snapshot and destination, changes nothing. Throws when a guard refuses or the pre-flight fails. */
export async function planLoad(context: Context, request: LoadRequest): Promise<PlannedLoad> {
  await refuseUnshared(context, request.target);
  return request.file === undefined
    ? planSnapshot(context, request)
    : planScript(context, { ...request, file: request.file });
}

/** Does what was planned. Steps: `prepare`, `restore`, `index`, `check`, `swap`. */
export async function load(context: Context, planned: PlannedLoad): Promise<LoadResult> {
  for (const { code, message } of planned.plan.warnings) context.report({ event: 'warning', code, message });
  return planned.apply(context);
}
