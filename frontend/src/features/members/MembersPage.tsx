import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import {
  grantable,
  isLimitable,
  type Member,
  membersQuery,
  ROLES,
  type Role,
  useRemoveMember,
  useRole,
  useSetRole,
} from '~/api/members'
import { formatDay, timeOf } from '~/lib/time'
import { NO_VALUE } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { Confirm } from '~/ui/Confirm'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { useClock } from '~/ui/clock'
import { Page, Panel } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Records, RowAction } from '~/ui/Records'
import { ActionError } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { InvitationList, Invite } from './Invitations'
import { MemberMeshes } from './MemberMeshes'
import { meshNames, strings } from './strings'

/** Members of the tenant with their roles; administrators also invite, change and remove. */
export function MembersPage() {
  const members = useQuery(membersQuery)
  const { data: session } = useQuery(sessionQuery)
  const clock = useClock()
  const own = useRole()
  const setRole = useSetRole()
  const remove = useRemoveMember()
  const [removing, setRemoving] = useState<Member | null>(null)
  const [limiting, setLimiting] = useState<Member | null>(null)
  const newest = (list: Member[] | undefined) => list?.find(({ id }) => id === limiting?.id) ?? limiting
  if (!members.data) return <Unloaded query={members} title={strings.members} what={strings.membersLower} />
  const roles = grantable(own)
  const manages = (member: Member) => roles.includes(member.role)
  return (
    <Page
      title={strings.members}
      lead={strings.lead}
      action={
        roles.length > 0 && <CreateDrawer label={strings.invitePerson}>{() => <Invite roles={roles} />}</CreateDrawer>
      }
    >
      <ActionError error={setRole.error} />
      <RecordList
        label={strings.members}
        rows={members.data}
        id={({ id }) => id}
        columns={[
          {
            title: strings.person,
            cell: (member) => (
              <>
                {member.name || member.email} {member.id === session?.user.id && strings.you}
              </>
            ),
            as: 'head',
            by: { key: 'name', value: ({ name, email }) => name || email },
          },
          { title: strings.email, by: { key: 'email', value: ({ email }) => email } },
          {
            title: strings.role,
            cell: (member) => (
              <RoleCell
                member={member}
                roles={manages(member) ? roles : []}
                onChange={(role) => setRole.mutate({ ...member, role })}
              />
            ),
            by: { key: 'role', value: ({ role }) => ROLES.indexOf(role) },
          },
          {
            title: strings.meshes,
            cell: (member) =>
              manages(member) && isLimitable(member.role) ? (
                <RowAction label={strings.changeMeshes(member.email)} onClick={() => setLimiting(member)}>
                  {meshNames(member.meshes)}
                </RowAction>
              ) : (
                meshNames(member.meshes)
              ),
            as: 'wrap',
          },
          {
            title: strings.since,
            cell: ({ created_at }) => formatDay(new Date(created_at), clock),
            by: { key: 'since', value: ({ created_at }) => timeOf(created_at) },
          },
          ...(members.data.some(({ confirmed_at }) => confirmed_at)
            ? [
                {
                  title: strings.singleSignOn,
                  cell: ({ confirmed_at }: Member) =>
                    confirmed_at ? formatDay(new Date(confirmed_at), clock) : NO_VALUE,
                },
              ]
            : []),
          {
            title: strings.actions,
            cell: (member) =>
              manages(member) && member.id !== session?.user.id ? (
                <RowAction label={strings.removePerson(member.email)} onClick={() => setRemoving(member)}>
                  {strings.remove}
                </RowAction>
              ) : null,
          },
        ]}
      />
      {roles.length > 0 && <InvitationList />}
      <Panel title={strings.roles}>
        <Records
          label={strings.roles}
          rows={ROLES}
          id={(role) => role}
          columns={[
            { title: strings.role, cell: (role) => strings.roleName(role), as: 'head' },
            { title: strings.may, cell: (role) => strings.roleMay[role], as: 'wrap' },
          ]}
        />
      </Panel>
      <MemberMeshes member={newest(members.data)} onClose={() => setLimiting(null)} />
      <Confirm
        title={strings.removePerson(removing?.email ?? '')}
        action={strings.remove}
        about={removing?.id ?? null}
        doing={remove}
        onClose={() => setRemoving(null)}
      >
        {strings.removeEffect}
      </Confirm>
    </Page>
  )
}

/** The role of a member; a choice where the signed-in person may change it. */
function RoleCell(props: { member: Member; roles: readonly Role[]; onChange: (role: Role) => void }) {
  const { member, roles, onChange } = props
  if (roles.length === 0) return <>{strings.roleName(member.role)}</>
  return (
    <Choice
      aria-label={strings.roleOf(member.email)}
      size="xs"
      w={110}
      data={roles.map((role) => ({ value: role, label: strings.roleName(role) }))}
      value={member.role}
      onChange={onChange}
    />
  )
}
