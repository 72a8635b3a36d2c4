import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { PROBLEMS } from '../../src/cloud/contract/problems.ts';
import { type Access, BASE_PATH, type HubRoute } from '../../src/cloud/contract/route.ts';
import { ROUTES } from '../../src/cloud/contract/routes.ts';
import { PARAMETERS, problemSchema } from '../../src/cloud/contract/schemas.ts';

/** The OpenAPI 3.1 document of the table of routes. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries<HubRoute>(ROUTES)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'The hub of tool',
      version: '3',
      description: 'Targets, snapshots and their permissions for a team: see docs/hub.md.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: BASE_PATH }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: jsonSchema(problemSchema, 'output') },
      responses: {
        Problem: {
          description: `An error (RFC 9457); its code is one of ${Object.keys(PROBLEMS).join(', ')}.`,
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}

function operation(name: string, route: HubRoute): object {
  const isPublic = route.access === 'public';
  const type = route.textBody ? { type: 'object' } : route.body && jsonSchema(route.body, 'input');
  return {
    operationId: name,
    summary: route.summary,
    description: accessText(route),
    security: isPublic ? [] : [{ token: [] }],
    ...(parameters(route).length > 0 && { parameters: parameters(route) }),
    ...(type && { requestBody: { required: true, content: { 'application/json': { schema: type } } } }),
    responses: { ...answers(route), '4XX': problem, '5XX': problem },
  };
}

const problem = { $ref: '#/components/responses/Problem' };

function accessText({ access }: HubRoute): string {
  if (typeof access === 'object') return permissionText(access);
  const texts = {
    public: 'Requires no token.',
    'signed in': 'Requires a token.',
    owner: 'Requires the role owner.',
    auditor: 'Requires the role owner, or one of the auditor groups.',
  };
  return texts[access];
}

function permissionText(access: Extract<Access, object>): string {
  if ('each' in access) return `Requires a token. Targets without the permission ${access.each} are left out.`;
  if ('build' in access) {
    const claimed = access.claimed ? ', and the claim of the build' : '';
    return `Requires the permission ${access.build} on the target of the build${claimed}.`;
  }
  const created = access.create ? ', or to create targets where there is none' : '';
  return `Requires the permission ${access.target} on the target${created}.`;
}

function parameters({ path, query, conditional, etag }: HubRoute): object[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: jsonSchema(PARAMETERS[name as keyof typeof PARAMETERS], 'input'),
  }));
  const entries = (query as { entries?: Record<string, v.GenericSchema> } | undefined)?.entries ?? {};
  const inQuery = Object.entries(entries).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: jsonSchema((schema as unknown as { wrapped: v.GenericSchema }).wrapped, 'input'),
  }));
  const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });
  const inHeader = [
    ...(conditional ? [header('If-Match'), header('If-None-Match')] : []),
    ...(etag ? [header('If-None-Match')] : []),
  ];
  return [...inPath, ...inQuery, ...inHeader];
}

const STATUS_TEXTS: Record<string, string> = { 200: 'Done.', 201: 'Created.', 204: 'Done; no content.' };

function answers({ answers, etag }: HubRoute): object {
  const entries = Object.entries(answers).map(([status, schema]) => [
    status,
    {
      description: STATUS_TEXTS[status],
      ...(schema && { content: { 'application/json': { schema: jsonSchema(schema, 'output') } } }),
    },
  ]);
  return Object.fromEntries([...entries, ...(etag ? [['304', { description: 'Not changed.' }]] : [])]);
}

/** Returns the JSON Schema without checks that only the hub can make. */
function jsonSchema(schema: v.GenericSchema, typeMode: 'input' | 'output'): object {
  const { $schema: _, ...json } = toJsonSchema(schema, {
    typeMode,
    errorMode: 'ignore',
    ignoreActions: ['check', 'metadata', 'examples', 'to_number', 'finite'],
    overrideAction: ({ valibotAction, jsonSchema: made }) => replaceAction(valibotAction as unknown as Action, made),
  });
  return json;
}

interface Action {
  type: string;
  requirement?: unknown;
}

function replaceAction({ type, requirement }: Action, schema: object): object | undefined {
  if (type === 'regex' && requirement instanceof RegExp) return { ...schema, pattern: requirement.source };
  // The pattern of the library is no part of the contract.
  if (type === 'iso_timestamp') return { ...schema, format: 'date-time' };
  return undefined;
}
