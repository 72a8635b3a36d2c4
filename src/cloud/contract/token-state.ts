import type { ServiceToken } from './schemas.ts';

export function tokenState({ revoked_at, expires_at }: ServiceToken, now: Date): 'valid' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return new Date(expires_at) > now ? 'valid' : 'expired';
}
