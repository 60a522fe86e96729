import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Invitation,
  type InvitationInput,
  invitationsQuery,
  isLimitable,
  type Role,
  useInvite,
  useResend,
  useRevoke,
} from '~/api/members'
import { meshesQuery } from '~/api/meshes'
import { fieldsOf } from '~/lib/problem'
import { formatDay } from '~/lib/time'
import { ActionForm } from '~/ui/ActionForm'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { Confirm } from '~/ui/Confirm'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { limitOf, MeshChoice } from '~/ui/MeshChoice'
import { NoRows } from '~/ui/NoRows'
import { Panel } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { Unloaded } from '~/ui/Unloaded'
import { meshNames, strings } from './strings'

const STATUS: Record<Invitation['state'], Status> = {
  pending: 'waiting',
  expired: 'warn',
  accepted: 'good',
  revoked: 'ended',
}

/** The form that invites a person. */
export function Invite({ roles }: { roles: readonly Role[] }) {
  const invite = useInvite()
  const [delivery, setDelivery] = useState<'email' | 'link'>('email')
  const [role, setRole] = useState<Role>('viewer')
  const [meshIds, setMeshIds] = useState<string[]>([])
  const meshes = useQuery(meshesQuery)
  const field = fieldsOf(invite)

  function submit(form: FormData, element: HTMLFormElement) {
    const body: InvitationInput = {
      email: String(form.get('email')).trim(),
      role,
      mesh_ids: isLimitable(role) ? limitOf(meshIds) : null,
      delivery,
      valid_days: Number(form.get('days')),
    }
    invite.mutate(body, {
      onSuccess: () => {
        element.reset()
        setMeshIds([])
      },
    })
  }

  return (
    <>
      <ActionForm
        onSubmit={submit}
        doing={invite}
        action={delivery === 'email' ? strings.sendInvitation : strings.createLink}
      >
        <TextInput
          {...field('email')}
          type="email"
          label={strings.email}
          placeholder={strings.emailExample}
          required
          withAsterisk={false}
          {...longest(254)}
          w={240}
        />
        <Choice
          label={strings.role}
          data={roles.map((value) => ({ value, label: strings.roleName(value) }))}
          value={role}
          onChange={setRole}
          w={120}
        />
        {isLimitable(role) && (
          <MeshChoice
            label={strings.meshes}
            all={strings.allMeshes}
            meshes={meshes.data ?? []}
            value={meshIds}
            onChange={setMeshIds}
            error={field('mesh_ids').error}
            width={220}
          />
        )}
        <Choice
          label={strings.delivery}
          data={{ email: strings.byEmail, link: strings.byLink }}
          value={delivery}
          onChange={(value) => setDelivery(value === 'link' ? 'link' : 'email')}
          w={140}
        />
        <Choice
          name="days"
          label={strings.validFor}
          data={{ 1: strings.oneDay, 7: strings.sevenDays, 30: strings.thirtyDays }}
          defaultValue="7"
          w={110}
        />
      </ActionForm>
      {invite.data && <Issued email={invite.data.email} link={invite.data.link} />}
    </>
  )
}

/** The outcome of an invitation: a mail on its way, or the link to copy. */
function Issued({ email, link }: { email: string; link: string | null }) {
  if (link === null) return <Notice tone="good">{strings.sentTo(email)}</Notice>
  return (
    <>
      <Notice tone="good" title={strings.linkFor(email)}>
        {strings.copyNow}
      </Notice>
      <CopyText text={link} label={strings.invitationLink} />
    </>
  )
}

/** The invitations so far. */
export function InvitationList() {
  const invitations = useQuery(invitationsQuery)
  const clock = useClock()
  const resend = useResend()
  const revoke = useRevoke()
  const [revoking, setRevoking] = useState<Invitation | null>(null)
  if (!invitations.data) return <Unloaded query={invitations} what={strings.invitationsLower} />
  const isOpen = ({ state }: Invitation) => state === 'pending' || state === 'expired'
  return (
    <Panel title={strings.invitations}>
      <ActionError error={resend.error} />
      {resend.data && <Issued email={resend.data.email} link={resend.data.link} />}
      {invitations.data.length === 0 ? (
        <NoRows>{strings.noInvitations}</NoRows>
      ) : (
        <Records
          label={strings.invitations}
          rows={[...invitations.data].sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)))}
          id={({ id }) => id}
          low
          columns={[
            { title: strings.email, cell: ({ email }) => email, as: 'head' },
            { title: strings.role, cell: ({ role }) => strings.roleName(role) },
            { title: strings.meshes, cell: (row) => meshNames(row.meshes), as: 'wrap' },
            { title: strings.status, cell: (row) => <StateCell row={row} />, as: 'wrap' },
            { title: strings.invitedBy, cell: ({ invited_by }) => invited_by },
            {
              title: strings.expires,
              cell: (row) => (isOpen(row) ? formatDay(new Date(row.expires_at), clock) : '–'),
            },
            {
              title: strings.actions,
              cell: (row) =>
                isOpen(row) && (
                  <>
                    <RowAction
                      label={row.delivery === 'email' ? strings.resendTo(row.email) : strings.newLinkFor(row.email)}
                      onClick={() => resend.mutate(row.id)}
                    >
                      {row.delivery === 'email' ? strings.sendAgain : strings.newLink}
                    </RowAction>{' '}
                    <RowAction label={strings.revokeFor(row.email)} onClick={() => setRevoking(row)}>
                      {strings.revoke}
                    </RowAction>
                  </>
                ),
            },
          ]}
        />
      )}
      <Confirm
        title={strings.revokeFor(revoking?.email ?? '')}
        action={strings.revoke}
        about={revoking?.id ?? null}
        doing={revoke}
        onClose={() => setRevoking(null)}
      >
        {strings.revokeEffect}
      </Confirm>
    </Panel>
  )
}

function StateCell({ row }: { row: Invitation }) {
  if (row.state === 'pending' && row.mail_state === 'failed') {
    return (
      <>
        <StatusMark status="warn">{strings.mailFailed}</StatusMark> {row.mail_answer}
      </>
    )
  }
  if (row.state === 'pending' && row.mail_state === 'waiting') {
    return (
      <>
        <StatusMark status="waiting">{strings.mailWaiting}</StatusMark> {row.mail_answer}
      </>
    )
  }
  return <StatusMark status={STATUS[row.state]}>{strings.states[row.state]}</StatusMark>
}
