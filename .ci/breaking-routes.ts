import { breakingChanges } from './breaking-changes.ts';

interface Shape {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  additionalProperties?: Shape | boolean;
  propertyNames?: Shape;
  pattern?: string;
  format?: string;
  [limit: string]: unknown;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Shape;
}

interface Content {
  content?: Record<string, { schema: Shape }>;
}

interface Route {
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content & { $ref?: string }>;
}

interface OpenApi {
  paths?: Record<string, Record<string, Route>>;
  components?: { schemas?: Record<string, Shape> };
}

/**
 * What a client of the earlier OpenAPI document may stumble over in the later one, one line each: answers must keep
 * what it reads, requests must still accept what it sends.
 */
export function breakingRoutes(before: OpenApi, after: OpenApi): string[] {
  const routes = Object.entries(before.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, route]) =>
      compareRoute(route, after.paths?.[path]?.[method], `${method.toUpperCase()} ${path}`),
    ),
  );
  const shapes = Object.entries(before.components?.schemas ?? {}).flatMap(([name, shape]) =>
    compareAnswer(shape, after.components?.schemas?.[name], name),
  );
  return [...routes, ...shapes];
}

function compareRoute(before: Route, after: Route | undefined, path: string): string[] {
  if (!after) return [`${path} was removed`];
  const isPublic = ({ security = [] }: Route): boolean => security.length === 0;
  return [
    ...(isPublic(before) && !isPublic(after) ? [`${path} requires a token now`] : []),
    ...compareParameters(before.parameters ?? [], after.parameters ?? [], path),
    ...compareBody(before.requestBody, after.requestBody, path),
    ...Object.entries(before.responses).flatMap(([status, answer]) =>
      compareContent(answer, after.responses[status], `${path} ${status}`),
    ),
  ];
}

function compareParameters(before: Parameter[], after: Parameter[], path: string): string[] {
  const find = (list: Parameter[], { name, in: place }: Parameter) =>
    list.find((one) => one.name === name && one.in === place);
  const required = after.filter((one) => one.required && !find(before, one)?.required);
  return [
    ...required.map(({ name }) => `${path} ?${name} is required now`),
    ...before.flatMap((old) => compareInput(old.schema, find(after, old)?.schema, `${path} ?${old.name}`)),
  ];
}

function compareBody(before: Route['requestBody'], after: Route['requestBody'], path: string): string[] {
  const isRequired = after?.required && !before?.required;
  const types = Object.entries(before?.content ?? {});
  return [
    ...(isRequired ? [`${path} requires a body now`] : []),
    ...types.flatMap(([type, { schema }]) => compareInput(schema, after?.content?.[type]?.schema, `${path} body`)),
  ];
}

function compareContent(before: Route['responses'][string], after: Route['responses'][string] | undefined, at: string) {
  if (!after) return [`${at} was removed`];
  if (before.$ref !== after.$ref) return [`${at} is another shape`];
  const types = Object.entries(before.content ?? {});
  return types.flatMap(([type, { schema }]) => compareAnswer(schema, after.content?.[type]?.schema, at));
}

/** As keys of `--json`. */
function compareAnswer(before: Shape, after: Shape | undefined, path: string): string[] {
  return breakingChanges(
    { $defs: { [path]: withAnyOf(before) } },
    { $defs: after ? { [path]: withAnyOf(after) } : {} },
  );
}

/** One word for alternatives. */
function withAnyOf(shape: Shape): Shape {
  const text = JSON.stringify(shape, (_, value) => {
    const isShape = typeof value === 'object' && value !== null && Array.isArray(value.oneOf);
    if (!isShape) return value;
    const { oneOf, ...rest } = value;
    return { ...rest, anyOf: oneOf };
  });
  return JSON.parse(text);
}

/** The ends of what is accepted: a lower end of `UPPER` or a higher one of `LOWER` accepts less. */
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];

function compareInput(before: Shape, after: Shape | undefined, path: string): string[] {
  if (!after) return [`${path} was removed`];
  const [old, now] = [choicesOf(before), choicesOf(after)];
  if (old.length > 1 || now.length > 1) {
    return old.flatMap((choice) => {
      const attempts = now.map((one) => compareInput(choice, one, path));
      return attempts.sort((a, b) => a.length - b.length)[0] ?? [];
    });
  }
  return compareOne(old[0] ?? {}, now[0] ?? {}, path);
}

function choicesOf(shape: Shape): Shape[] {
  return shape.anyOf ?? shape.oneOf ?? [shape];
}

function compareOne(before: Shape, after: Shape, path: string): string[] {
  const isWider = after.type === undefined || (before.type === 'integer' && after.type === 'number');
  if (before.type !== after.type && !isWider) return [`${path} has another type`];
  const required = (after.required ?? []).filter((key) => !before.required?.includes(key));
  const [others, closed] = [before.additionalProperties, after.additionalProperties === false];
  return [
    ...compareValues(before, after, path),
    ...[...UPPER, ...LOWER]
      .filter((limit) => isTighter(before, after, limit))
      .map((limit) => `${path} has another ${limit}`),
    ...(['pattern', 'format'] as const)
      .filter((rule) => after[rule] !== undefined && after[rule] !== before[rule])
      .map((rule) => `${path} has another ${rule}`),
    ...required.map((key) => `${path}.${key} is required now`),
    ...(closed && others !== false && before.type === 'object' ? [`${path} accepts no other keys any more`] : []),
    ...Object.entries(before.properties ?? {}).flatMap(([key, schema]) =>
      compareInput(schema, after.properties?.[key], `${path}.${key}`),
    ),
    ...(after.items ? compareInput(before.items ?? {}, after.items, `${path}[]`) : []),
    ...(after.propertyNames ? compareInput(before.propertyNames ?? {}, after.propertyNames, `${path} keys`) : []),
    ...(typeof others === 'object' && typeof after.additionalProperties === 'object'
      ? compareInput(others, after.additionalProperties, `${path}.*`)
      : []),
  ];
}

function compareValues(before: Shape, after: Shape, path: string): string[] {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  if (!now) return [];
  if (!old) return [`${path} accepts certain values only`];
  return old
    .filter((value) => !now.includes(value))
    .map((value) => `${path} no longer accepts ${JSON.stringify(value)}`);
}

function valuesOf(shape: Shape): unknown[] | null {
  return 'const' in shape ? [shape.const] : (shape.enum ?? null);
}

function isTighter(before: Shape, after: Shape, limit: string): boolean {
  const [old, now] = [before[limit], after[limit]];
  if (typeof now !== 'number') return false;
  if (typeof old !== 'number') return true;
  return UPPER.includes(limit) ? now < old : now > old;
}
