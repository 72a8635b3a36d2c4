import type { KeyProblem } from '../key-problem.ts';
import { serviceElsewhere } from '../urls/url-parts.ts';
import type { Rule } from './rule.ts';
import { connectionUrls } from './urls.ts';

/** libpq prefers the URL's parameters over the service's, but takes the password from the service. */
export const servicesKeepTheirHosts: Rule = (draft) =>
  connectionUrls(draft).flatMap(({ path, url }): KeyProblem[] => {
    const leak = serviceElsewhere(url);
    if (!leak) return [];
    return [
      {
        path,
        severity: 'warning',
        code: 'service_elsewhere',
        message: `the password of service '${leak.service}' is sent to ${leak.host}`,
        hint: 'Remove the host or the service from the URL.',
      },
    ];
  });
