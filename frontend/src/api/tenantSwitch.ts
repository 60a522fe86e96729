/** Moving between tenants: the session changes, and every tab of this browser reloads. */

import { switchTenant } from './members'

const KEY = 'sinemora-tenant'

/** Switch this browser to another tenant. No data of the tenant before may remain on any page. */
export async function openTenant(id: string) {
  await switchTenant(id)
  localStorage.setItem(KEY, id)
  window.location.assign('/')
}

/** The signed-in person has left: the session has ended with the membership. */
export const tenantLeft = () => window.location.assign('/sign-in')

/** Reload this tab when another tab has switched. Return a function that stops. */
export function followSwitches(): () => void {
  const follow = ({ key, newValue }: StorageEvent) => {
    if (key === KEY && newValue !== null) window.location.assign('/')
  }
  window.addEventListener('storage', follow)
  return () => window.removeEventListener('storage', follow)
}
