import type * as v from 'valibot';
import * as resources from './resources.ts';
import type { HubRoute } from './route.ts';
import * as schemas from './schemas.ts';
import { TARGET_ROUTES } from './target-routes.ts';

/** The API of the hub: routing, validation, access, the client and `assets/openapi.json` derive from this table. */
export const ROUTES = {
  root: {
    method: 'GET',
    path: '/',
    summary: 'Version of the hub, and the provider to sign in with',
    access: 'public',
    answers: { 200: schemas.rootSchema },
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
    body: schemas.newSessionSchema,
    answers: { 201: schemas.sessionSchema },
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
    answers: { 200: schemas.identitySchema },
  },
  ...TARGET_ROUTES,
  listStorageProfiles: {
    method: 'GET',
    path: '/storage_profiles',
    summary: 'Storage profiles, by name',
    access: 'owner',
    query: schemas.pageQuery,
    answers: { 200: resources.storagePageSchema },
    etag: true,
  },
  getStorageProfile: {
    method: 'GET',
    path: '/storage_profiles/{name}',
    summary: 'A storage profile, without its keys',
    access: 'owner',
    answers: { 200: resources.storageAnswerSchema },
    etag: true,
  },
  putStorageProfile: {
    method: 'PUT',
    path: '/storage_profiles/{name}',
    summary: 'Create or change a storage profile',
    access: 'owner',
    body: resources.storageBodySchema,
    answers: { 200: resources.storageAnswerSchema, 201: resources.storageAnswerSchema },
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
    answers: { 200: resources.storageCheckSchema },
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    summary: 'Service tokens, newest first',
    access: 'owner',
    query: schemas.pageQuery,
    answers: { 200: schemas.tokenPageSchema },
  },
  createToken: {
    method: 'POST',
    path: '/tokens',
    summary: 'Create a service token, which is shown once',
    access: 'owner',
    body: schemas.newTokenSchema,
    answers: { 201: schemas.createdTokenSchema },
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
    query: schemas.pageQuery,
    answers: { 200: schemas.userPageSchema },
  },
  updateUser: {
    method: 'PATCH',
    path: '/users/{id}',
    summary: 'Disable or enable a user',
    access: 'owner',
    body: schemas.userBodySchema,
    answers: { 200: schemas.userSchema },
  },
  listAuditEvents: {
    method: 'GET',
    path: '/audit_events',
    summary: 'Audit events, newest first; as text/csv where that is accepted',
    access: 'auditor',
    query: schemas.auditQuery,
    answers: { 200: schemas.auditPageSchema },
  },
} as const satisfies Record<string, HubRoute>;

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
