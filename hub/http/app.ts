import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { BASE_PATH, type HubRoute } from '../../src/cloud/contract/route.ts';
import { ROUTES, type RouteName } from '../../src/cloud/contract/routes.ts';
import { noFields } from '../../src/cloud/contract/schemas.ts';
import type { Hub } from '../hub.ts';
import type { Metrics } from '../metrics.ts';
import { mountPages } from '../pages/pages.ts';
import type { Caller } from '../permissions/access.ts';
import {
  assertMayAsk,
  assertPermittedNow,
  type PermissionRequest,
  permitsOf,
  recordRefusal,
  tokenRequired,
} from '../permissions/permit.ts';
import { Problem } from '../problem.ts';
import { auditRoutes } from '../routes/audit.ts';
import { buildRoutes } from '../routes/builds.ts';
import type { Answer, Handlers } from '../routes/handler.ts';
import { imageRoutes } from '../routes/images.ts';
import { reportRoutes } from '../routes/reports.ts';
import { sessionRoutes } from '../routes/sessions.ts';
import { snapshotRoutes } from '../routes/snapshots.ts';
import { storageProfileRoutes } from '../routes/storage-profiles.ts';
import { targetRoutes } from '../routes/targets.ts';
import { tokenRoutes } from '../routes/tokens.ts';
import { userRoutes } from '../routes/users.ts';
import { failed, type RequestFacts, written } from './answer.ts';
import { observed } from './observed.ts';
import {
  assertNoBrowser,
  assertRequestRate,
  assertSupportedTool,
  conditionOf,
  costOf,
  type HonoContext,
  parametersOf,
  parsed,
  parsedJson,
  queryOf,
  receiveBody,
  tokenOf,
} from './request.ts';

const HANDLERS: Handlers = {
  ...sessionRoutes,
  ...targetRoutes,
  ...snapshotRoutes,
  ...imageRoutes,
  ...reportRoutes,
  ...buildRoutes,
  ...storageProfileRoutes,
  ...tokenRoutes,
  ...userRoutes,
  ...auditRoutes,
};

export interface AppOptions {
  hub: Hub;
  metrics: Metrics;
  /** Reports whether the instance accepts new requests: not while it ends. */
  isReady: () => Promise<boolean>;
  /** Code of a trial: signs in to the pages once. */
  trialCode: string | null;
}

/** The API of the hub, and `/healthz` and `/readyz`. */
export function createApp({ hub, metrics, isReady, trialCode }: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) =>
    (await isReady()) ? context.text('ready\n') : context.text('not ready\n', 503),
  );
  mountPages(app, { hub, metrics, trialCode });
  const paths = new Set<string>();
  for (const [name, route] of Object.entries<HubRoute>(ROUTES)) {
    const path = `${BASE_PATH}${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    // Clients write the root either way.
    const spellings = route.path === '/' ? [BASE_PATH, path] : [path];
    for (const spelling of spellings) paths.add(spelling);
    app.on(route.method, spellings, (context) =>
      observed(context, { route: name, hub, metrics }, (seen) =>
        answer(context, { name: name as RouteName, route, hub, seen }).catch((error) => failed(error, hub, seen)),
      ),
    );
  }
  for (const path of paths) {
    app.all(path, () => failed(new Problem('cloud_method', 'The resource has no such method'), hub));
  }
  app.notFound(() => failed(new Problem('cloud_unknown', 'There is no such resource'), hub));
  app.onError((error) => failed(error, hub));
  return app;
}

interface AnswerOptions {
  name: RouteName;
  route: HubRoute;
  hub: Hub;
  seen: RequestFacts;
}

async function answer(context: HonoContext, { name, route, hub, seen }: AnswerOptions): Promise<Response> {
  assertNoBrowser(context);
  assertSupportedTool(context);
  const token = tokenOf(context);
  if (token !== null) assertRequestRate(token, hub, costOf(context, route));
  const callerNow = async () => (route.access === 'public' ? null : await callerOf(token, hub));
  const parameters = parametersOf(context);
  const { address } = seen;
  let asked: PermissionRequest = { route, caller: await callerNow(), parameters, hub };
  seen.caller = asked.caller;
  try {
    assertMayAsk(asked);
    // A large body is not read for callers without the permission.
    if (route.maxBodyBytes !== undefined) await assertPermittedNow(asked);
    const received = await receiveBody(context, route);
    // It may have arrived slowly, and the token have been revoked meanwhile.
    if (received) asked = { ...asked, caller: await callerNow() };
    const target = await assertPermittedNow(asked);
    const text = received?.text();
    const query = parsed(route.query ?? noFields, queryOf(context), '/query');
    const body = text === undefined || !route.body ? text : parsed(route.body, parsedJson(text), '');
    const { caller } = asked;
    const condition = route.conditional ? conditionOf(context) : null;
    const acceptsCsv = context.req.header('accept')?.startsWith('text/csv') ?? false;
    const isOfTarget = typeof route.access === 'object' && 'target' in route.access;
    const event = caller && { by: caller, address, target: isOfTarget ? parameters.name : null };
    const request = {
      ...{ parameters, query, body, caller, callerNow, target, condition, address, event, acceptsCsv },
      ...permitsOf(asked, target),
      // Created on demand: only requests that wait use it.
      get signal() {
        return context.req.raw.signal;
      },
    };
    // What it is handed was parsed by the schemas of its route.
    const given: Answer<unknown> = await HANDLERS[name](request as never, hub);
    return written(context, { given, route, requestId: seen.requestId });
  } catch (error) {
    await recordRefusal(error, { ...asked, address });
    throw error;
  }
}

async function callerOf(token: string | null, { callers }: Hub): Promise<Caller> {
  const caller = token === null ? null : await callers.find(token);
  if (caller) return caller;
  throw tokenRequired();
}
