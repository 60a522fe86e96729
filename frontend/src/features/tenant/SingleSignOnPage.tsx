import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { policyQuery } from '~/api/account'
import { shownError, useConfirmation } from '~/api/confirmation'
import {
  type IdentityProvider,
  identityProviderQuery,
  type SignInDomain,
  signInDomainsQuery,
  useAddDomain,
  useDeleteIdentityProvider,
  useRemoveDomain,
  useRequireSingleSignOn,
  useTestIdentityProvider,
  useVerifyDomain,
} from '~/api/identityProvider'
import { useRole } from '~/api/members'
import { ActionForm } from '~/ui/ActionForm'
import { longest } from '~/ui/CheckedInput'
import { Confirm } from '~/ui/Confirm'
import { CopyText } from '~/ui/CopyText'
import { Dialog } from '~/ui/Dialog'
import { NoRows } from '~/ui/NoRows'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { Unloaded } from '~/ui/Unloaded'
import { ProviderForm } from './ProviderForm'
import { strings } from './singleSignOnStrings'

/** The identity provider of the tenant, the domains of its people, and whether it is the only way in. */
export function SingleSignOnPage() {
  const role = useRole()
  const sees = role === 'admin' || role === 'owner'
  const provider = useQuery({ ...identityProviderQuery, enabled: sees })
  const domains = useQuery({ ...signInDomainsQuery, enabled: sees })
  if (!sees) {
    return (
      <Page title={strings.singleSignOn} lead={strings.lead}>
        <NoRows>{strings.adminOnly}</NoRows>
      </Page>
    )
  }
  if (provider.data === undefined)
    return <Unloaded query={provider} title={strings.singleSignOn} what={strings.lower} />
  if (!domains.data) return <Unloaded query={domains} title={strings.singleSignOn} what={strings.lower} />
  const isOwner = role === 'owner'
  return (
    <Page title={strings.singleSignOn} lead={isOwner ? strings.lead : `${strings.lead} ${strings.ownerOnly}`}>
      <ProviderPanel row={provider.data} isOwner={isOwner} />
      <DomainsPanel rows={domains.data} isOwner={isOwner} />
      {provider.data && <RequiredPanel isOwner={isOwner} />}
    </Page>
  )
}

function ProviderPanel({ row, isOwner }: { row: IdentityProvider | null; isOwner: boolean }) {
  const [editing, setEditing] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const test = useTestIdentityProvider()
  const remove = useDeleteIdentityProvider()
  const confirmation = useConfirmation()
  const close = () => setEditing(false)

  function end() {
    const onError = (error: unknown) => {
      confirmation.ask(error, end)
      if (shownError(error) === null) setDeleting(false)
    }
    remove.mutate(undefined, { onError, onSuccess: () => setDeleting(false) })
  }

  return (
    <Panel title={strings.provider} term="identity provider">
      {row ? (
        <Records
          label={strings.provider}
          rows={[row]}
          id={({ issuer }) => issuer}
          columns={[
            { title: strings.issuer, cell: ({ issuer }) => issuer, as: 'head' },
            { title: strings.clientId, cell: ({ client_id }) => client_id },
            {
              title: strings.roles,
              cell: ({ roles }) =>
                Object.entries(roles)
                  .map(([group, role]) => `${group}: ${role}`)
                  .join(', '),
              as: 'wrap',
            },
          ]}
        />
      ) : (
        <NoRows>{strings.noProvider}</NoRows>
      )}
      <ActionError error={test.error} />
      {test.data && (
        <Notice
          tone={test.data.error === null ? 'good' : 'bad'}
          {...(test.data.error !== null && { title: strings.testBad })}
        >
          {test.data.error ?? strings.testGood}
        </Notice>
      )}
      {isOwner && (
        <Group gap="sm">
          <Button variant={row ? 'default' : 'filled'} size="sm" onClick={() => setEditing(true)}>
            {row ? strings.editProvider : strings.setUp}
          </Button>
          {row && (
            <>
              <Button variant="default" size="sm" onClick={() => test.mutate(undefined)} loading={test.isPending}>
                {strings.test}
              </Button>
              <Button variant="default" size="sm" onClick={() => setDeleting(true)}>
                {strings.deleteProvider}
              </Button>
            </>
          )}
        </Group>
      )}
      <Dialog title={row ? strings.editProvider : strings.setUp} opened={editing} onClose={close}>
        <ProviderForm row={row} close={close} />
      </Dialog>
      <Confirm
        title={strings.deleteProvider}
        action={strings.delete}
        about={deleting ? 'provider' : null}
        doing={{ ...remove, mutate: end, error: shownError(remove.error) }}
        onClose={() => setDeleting(false)}
      >
        {strings.deleteEffect}
      </Confirm>
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}

function DomainsPanel({ rows, isOwner }: { rows: SignInDomain[]; isOwner: boolean }) {
  const add = useAddDomain()
  const verify = useVerifyDomain()
  const remove = useRemoveDomain()
  const [removing, setRemoving] = useState<SignInDomain | null>(null)
  return (
    <Panel title={strings.domains}>
      <p className={pageStyles.lead}>{strings.domainsLead}</p>
      {rows.length === 0 ? (
        <NoRows>{strings.noDomains}</NoRows>
      ) : (
        <Records
          label={strings.domains}
          rows={rows}
          id={({ id }) => id}
          columns={[
            { title: strings.domain, cell: ({ domain }) => domain, as: 'head' },
            { title: strings.state, cell: stateOf },
            {
              title: strings.record,
              cell: ({ domain, record }) => <CopyText label={`${strings.record}, ${domain}`} text={record} />,
            },
            ...(isOwner ? [{ title: strings.actions, cell: actions }] : []),
          ]}
        />
      )}
      <ActionError error={verify.error} />
      {isOwner && (
        <ActionForm
          onSubmit={(form, element) => add.mutate(String(form.get('domain')), { onSuccess: () => element.reset() })}
          doing={add}
          action={strings.addDomain}
        >
          <TextInput
            name="domain"
            label={strings.domain}
            placeholder={strings.domainExample}
            autoComplete="off"
            required
            withAsterisk={false}
            {...longest(254)}
            w={260}
          />
        </ActionForm>
      )}
      <Confirm
        title={strings.removeName(removing?.domain ?? '')}
        action={strings.remove}
        about={removing?.id ?? null}
        doing={remove}
        onClose={() => setRemoving(null)}
      >
        {strings.removeEffect}
      </Confirm>
    </Panel>
  )

  function actions(row: SignInDomain) {
    return (
      <Group gap="sm" wrap="nowrap">
        {(!row.verified_at || row.missing_since) && (
          <RowAction label={strings.verifyName(row.domain)} onClick={() => verify.mutate(row.id)}>
            {strings.verify}
          </RowAction>
        )}
        <RowAction label={strings.removeName(row.domain)} onClick={() => setRemoving(row)}>
          {strings.remove}
        </RowAction>
      </Group>
    )
  }
}

function stateOf({ verified_at, missing_since }: SignInDomain) {
  if (!verified_at) return <StatusMark status="waiting">{strings.unverified}</StatusMark>
  if (missing_since) return <StatusMark status="warn">{strings.missing}</StatusMark>
  return <StatusMark status="good">{strings.verified}</StatusMark>
}

function RequiredPanel({ isOwner }: { isOwner: boolean }) {
  const policy = useQuery(policyQuery)
  const set = useRequireSingleSignOn()
  const confirmation = useConfirmation()
  const require = (required: boolean) =>
    set.mutate(required, { onError: (error) => confirmation.ask(error, () => require(required)) })
  if (!policy.data) return <Unloaded query={policy} what={strings.lower} />
  return (
    <Panel title={strings.signInOfAllMembers}>
      <Checkbox
        label={strings.required}
        description={strings.requiredHint}
        checked={policy.data.single_sign_on_required}
        disabled={set.isPending || !isOwner}
        onChange={({ currentTarget }) => require(currentTarget.checked)}
      />
      <ActionError error={shownError(set.error)} />
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}
