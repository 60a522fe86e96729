import { ActionIcon, Menu } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { sessionQuery, signOut } from '~/api/access'
import { ownTenantsQuery } from '~/api/members'
import { followSwitches, openTenant } from '~/api/tenantSwitch'
import { UserIcon } from '~/ui/icons'
import { strings } from './strings'

export function UserMenu() {
  const { data: session } = useQuery(sessionQuery)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  useEffect(followSwitches, [])

  async function leave() {
    // Sign out here even without a response: the page must not show data any longer.
    await signOut().catch(() => undefined)
    queryClient.clear()
    await navigate({ to: '/sign-in' })
  }

  return (
    <Menu position="bottom-end" width={220} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" c="var(--ink-2)" size={28} aria-label={strings.account}>
          <UserIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session?.tenant.name}
          <br />
          {session?.user.email}, {session?.role}
        </Menu.Label>
        <OtherTenants />
        <Menu.Divider />
        <Menu.Item component={Link} to="/account">
          {strings.account}
        </Menu.Item>
        <Menu.Item component={Link} to="/about">
          {strings.aboutSinemora}
        </Menu.Item>
        <Menu.Item onClick={() => void leave()}>{strings.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The other tenants of the signed-in person; nothing for a person with one. */
function OtherTenants() {
  const { data } = useQuery(ownTenantsQuery)
  const others = data?.items.filter(({ is_current }) => !is_current) ?? []
  if (others.length === 0) return null
  return (
    <>
      <Menu.Divider />
      <Menu.Label>{strings.switchTenant}</Menu.Label>
      {others.map(({ id, name }) => (
        <Menu.Item key={id} onClick={() => void openTenant(id)}>
          {name}
        </Menu.Item>
      ))}
    </>
  )
}
