import type * as v from 'valibot';
import { MOST_TEXT_BYTES } from '../../repository/store.ts';
import {
  buildSchema,
  claimBodySchema,
  claimSchema,
  finishBodySchema,
  heartbeatBodySchema,
  newBuildBodySchema,
} from './builds.ts';
import { retentionQuery, retentionSchema } from './retention.ts';
import {
  annotationsBodySchema,
  auditPageSchema,
  auditQuery,
  createdTokenSchema,
  headlinePageSchema,
  identitySchema,
  newSessionSchema,
  newTokenSchema,
  type Permission,
  pageQuery,
  rootSchema,
  searchQuery,
  sessionSchema,
  snapshotAnswerSchema,
  snapshotQuery,
  storageAnswerSchema,
  storageBodySchema,
  storageCheckSchema,
  storagePageSchema,
  targetAnswerSchema,
  targetBodySchema,
  targetPageSchema,
  targetSecretsSchema,
  tokenPageSchema,
  userBodySchema,
  userPageSchema,
  userSchema,
} from './schemas.ts';
import {
  downloadsBodySchema,
  downloadsSchema,
  reportsBodySchema,
  reportsSchema,
  uploadsBodySchema,
  uploadsSchema,
  verifyBodySchema,
  verifySchema,
} from './transfers.ts';

/** Path prefix of the API. */
export const BASE_PATH = '/api/v3';

/** Bytes of a body, unless the route says otherwise. */
export const MOST_BODY_BYTES = 1024 * 1024;

/**
 * Callers of a route: everyone; every caller with a token; a role; callers with this permission on the target of the path
 * (`create`: or with the right to create one), or on that of the build (`claimed`: which they have claimed). `each` is for
 * every signed-in caller, and leaves out targets without the permission. `hub/access.ts` decides.
 */
export type Access =
  | 'public'
  | 'signed in'
  | 'owner'
  | 'auditor'
  | { target: Permission; create?: true }
  | { build: Permission; claimed?: true }
  | { each: Permission };

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v3`; what is in braces is a parameter. */
  path: string;
  summary: string;
  access: Access;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** The body is a text in a format of its own, which the route parses: a manifest. */
  textBody?: true;
  maxBodyBytes?: number;
  /** Bytes of an answer that a client reads; default 64 MB. */
  maxAnswerBytes?: number;
  /** Schemas of successful answers, by status; `null` where there is no body. */
  answers: Record<number, v.GenericSchema | null>;
  /** A change names the revision that it is made to (`If-Match`), a creation that there is none (`If-None-Match: *`). */
  conditional?: true;
  /** Answers with an ETag, and with 304 where the caller has that already. */
  etag?: true;
}

/** The API of the hub: routing, validation, access, the client and `assets/openapi.json` derive from this table. */
export const ROUTES = {
  root: {
    method: 'GET',
    path: '/',
    summary: 'Version of the hub, and the provider to sign in with',
    access: 'public',
    answers: { 200: rootSchema },
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    access: 'public',
    answers: { 200: null },
  },
  createSession: {
    method: 'POST',
    path: '/sessions',
    summary: 'Exchange an ID token for a token of the hub',
    access: 'public',
    body: newSessionSchema,
    answers: { 201: sessionSchema },
  },
  endSession: {
    method: 'DELETE',
    path: '/sessions/current',
    summary: 'End the session of the token',
    access: 'signed in',
    answers: { 204: null },
  },
  me: {
    method: 'GET',
    path: '/me',
    summary: 'The user or service of the token',
    access: 'signed in',
    answers: { 200: identitySchema },
  },
  listTargets: {
    method: 'GET',
    path: '/targets',
    summary: 'Targets that the caller may read, by name',
    access: { each: 'read' },
    query: searchQuery,
    answers: { 200: targetPageSchema },
    etag: true,
  },
  getTarget: {
    method: 'GET',
    path: '/targets/{name}',
    summary: 'A target',
    access: { target: 'read' },
    answers: { 200: targetAnswerSchema },
    etag: true,
  },
  putTarget: {
    method: 'PUT',
    path: '/targets/{name}',
    summary: 'Create or change a target',
    access: { target: 'change', create: true },
    body: targetBodySchema,
    answers: { 200: targetAnswerSchema, 201: targetAnswerSchema },
    conditional: true,
  },
  deleteTarget: {
    method: 'DELETE',
    path: '/targets/{name}',
    summary: 'Remove a target that has no snapshots',
    access: { target: 'change' },
    answers: { 204: null },
    conditional: true,
  },
  getTargetSecrets: {
    method: 'GET',
    path: '/targets/{name}/secrets',
    summary: 'URLs of a target with passwords, for a build',
    access: { target: 'read_source' },
    answers: { 200: targetSecretsSchema },
  },
  getRetention: {
    method: 'GET',
    path: '/targets/{name}/retention',
    summary: 'Snapshots that the keep policy of the target, or that of the query, would remove at the next publication',
    access: { target: 'change' },
    query: retentionQuery,
    answers: { 200: retentionSchema },
  },
  listSnapshots: {
    method: 'GET',
    path: '/targets/{name}/snapshots',
    summary: 'Snapshots that the caller may read, newest first',
    access: { target: 'read' },
    query: snapshotQuery,
    answers: { 200: headlinePageSchema },
    etag: true,
  },
  getSnapshot: {
    method: 'GET',
    path: '/targets/{name}/snapshots/{snapshot}',
    summary: 'A snapshot, and the URL of its manifest',
    access: { target: 'read' },
    answers: { 200: snapshotAnswerSchema },
  },
  publishSnapshot: {
    method: 'PUT',
    path: '/targets/{name}/snapshots/{snapshot}',
    summary: 'Publish a snapshot whose objects are stored: the body is its manifest',
    access: { target: 'push' },
    textBody: true,
    maxBodyBytes: MOST_TEXT_BYTES,
    answers: { 200: null, 201: null },
  },
  annotateSnapshot: {
    method: 'PATCH',
    path: '/targets/{name}/snapshots/{snapshot}',
    summary: 'Change the note, the tags or the pin of a snapshot',
    access: { target: 'change' },
    body: annotationsBodySchema,
    answers: { 204: null },
  },
  removeSnapshot: {
    method: 'DELETE',
    path: '/targets/{name}/snapshots/{snapshot}',
    summary: 'Remove a snapshot',
    access: { target: 'change' },
    answers: { 204: null },
  },
  requestUploads: {
    method: 'POST',
    path: '/targets/{name}/uploads',
    summary: 'Presigned URLs for objects that the target lacks',
    access: { target: 'push' },
    body: uploadsBodySchema,
    answers: { 200: uploadsSchema },
  },
  verifyUploads: {
    method: 'POST',
    path: '/targets/{name}/verify',
    summary: 'Complete uploads, and compare the stored objects with their names',
    access: { target: 'push' },
    body: verifyBodySchema,
    answers: { 200: verifySchema },
  },
  requestDownloads: {
    method: 'POST',
    path: '/targets/{name}/snapshots/{snapshot}/downloads',
    summary: 'Presigned URLs for objects of a snapshot',
    access: { target: 'read' },
    body: downloadsBodySchema,
    answers: { 200: downloadsSchema },
  },
  reportObjects: {
    method: 'POST',
    path: '/targets/{name}/snapshots/{snapshot}/reports',
    summary:
      'Report damaged objects of a snapshot: the hub checks them, and the next push sends those that are damaged',
    access: { target: 'read' },
    body: reportsBodySchema,
    answers: { 200: reportsSchema },
  },
  requestBuild: {
    method: 'POST',
    path: '/targets/{name}/builds',
    summary: 'Request a build by an agent; answers the build that is queued or running, if any',
    access: { target: 'push' },
    body: newBuildBodySchema,
    answers: { 200: buildSchema, 201: buildSchema },
  },
  claimBuild: {
    method: 'POST',
    path: '/builds/claim',
    summary: 'Wait for a due build of one of these targets, and take it; heartbeats keep it',
    access: { each: 'push' },
    body: claimBodySchema,
    maxAnswerBytes: MOST_BODY_BYTES,
    answers: { 200: claimSchema },
  },
  heartbeatBuild: {
    method: 'POST',
    path: '/builds/{id}/heartbeat',
    summary: 'Keep a claimed build; without a heartbeat it is given to another agent after a minute',
    access: { build: 'push', claimed: true },
    body: heartbeatBodySchema,
    maxAnswerBytes: MOST_BODY_BYTES,
    answers: { 204: null },
  },
  finishBuild: {
    method: 'POST',
    path: '/builds/{id}/finish',
    summary: 'End a claimed build: done, failed, or released to other agents',
    access: { build: 'push', claimed: true },
    body: finishBodySchema,
    maxAnswerBytes: MOST_BODY_BYTES,
    answers: { 204: null },
  },
  getBuild: {
    method: 'GET',
    path: '/builds/{id}',
    summary: 'A requested or scheduled build, for callers that may build its target',
    access: { build: 'push' },
    answers: { 200: buildSchema },
  },
  listStorageProfiles: {
    method: 'GET',
    path: '/storage_profiles',
    summary: 'Storage profiles, by name',
    access: 'owner',
    query: pageQuery,
    answers: { 200: storagePageSchema },
    etag: true,
  },
  getStorageProfile: {
    method: 'GET',
    path: '/storage_profiles/{name}',
    summary: 'A storage profile, without its keys',
    access: 'owner',
    answers: { 200: storageAnswerSchema },
    etag: true,
  },
  putStorageProfile: {
    method: 'PUT',
    path: '/storage_profiles/{name}',
    summary: 'Create or change a storage profile',
    access: 'owner',
    body: storageBodySchema,
    answers: { 200: storageAnswerSchema, 201: storageAnswerSchema },
    conditional: true,
  },
  deleteStorageProfile: {
    method: 'DELETE',
    path: '/storage_profiles/{name}',
    summary: 'Remove a storage profile that no target uses',
    access: 'owner',
    answers: { 204: null },
    conditional: true,
  },
  checkStorageProfile: {
    method: 'POST',
    path: '/storage_profiles/{name}/check',
    summary: 'Write, read and remove a test object',
    access: 'owner',
    answers: { 200: storageCheckSchema },
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    summary: 'Service tokens, newest first',
    access: 'owner',
    query: pageQuery,
    answers: { 200: tokenPageSchema },
  },
  createToken: {
    method: 'POST',
    path: '/tokens',
    summary: 'Create a service token, which is shown once',
    access: 'owner',
    body: newTokenSchema,
    answers: { 201: createdTokenSchema },
  },
  revokeToken: {
    method: 'DELETE',
    path: '/tokens/{id}',
    summary: 'Revoke a service token',
    access: 'owner',
    answers: { 204: null },
  },
  listUsers: {
    method: 'GET',
    path: '/users',
    summary: 'Users that have signed in, by name',
    access: 'owner',
    query: pageQuery,
    answers: { 200: userPageSchema },
  },
  updateUser: {
    method: 'PATCH',
    path: '/users/{id}',
    summary: 'Disable or enable a user',
    access: 'owner',
    body: userBodySchema,
    answers: { 200: userSchema },
  },
  listAuditEvents: {
    method: 'GET',
    path: '/audit_events',
    summary: 'Audit events, newest first; as text/csv where that is accepted',
    access: 'auditor',
    query: auditQuery,
    answers: { 200: auditPageSchema },
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

type Part<Name extends RouteName, Key extends string> =
  (typeof ROUTES)[Name] extends Record<Key, infer Schema> ? Schema : never;

/** The query that a handler receives and a client sends. */
export type QueryOf<Name extends RouteName> =
  Part<Name, 'query'> extends v.GenericSchema ? v.InferOutput<Part<Name, 'query'>> : Record<string, never>;
export type BodyOf<Name extends RouteName> = (typeof ROUTES)[Name] extends { textBody: true }
  ? string
  : Part<Name, 'body'> extends v.GenericSchema
    ? v.InferOutput<Part<Name, 'body'>>
    : undefined;

/** The body that a client sends, where the schema fills in defaults. */
export type SentBodyOf<Name extends RouteName> = (typeof ROUTES)[Name] extends { textBody: true }
  ? string
  : Part<Name, 'body'> extends v.GenericSchema
    ? v.InferInput<Part<Name, 'body'>>
    : undefined;

type Answers<Name extends RouteName> = (typeof ROUTES)[Name]['answers'];

/** The body of a successful answer. */
export type AnswerOf<Name extends RouteName> = {
  [Status in keyof Answers<Name>]: Answers<Name>[Status] extends v.GenericSchema
    ? v.InferOutput<Answers<Name>[Status]>
    : null;
}[keyof Answers<Name>];

/** The parameters in a path: `/targets/{name}` has `name`. */
export type ParametersOf<Name extends RouteName> = { [Key in Braces<(typeof ROUTES)[Name]['path']>]: string };

type Braces<Path extends string> = Path extends `${string}{${infer Key}}${infer Rest}` ? Key | Braces<Rest> : never;
