import { Button, Checkbox, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import { type OwnTenant, ownTenantsQuery, useCreateTenant, useLeaveTenant, useSetTenant } from '~/api/members'
import { openTenant, tenantLeft } from '~/api/tenantSwitch'
import { fieldsOf } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { longest } from '~/ui/CheckedInput'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { ActionError, Failed, Notice } from '~/ui/State'
import { Confirmation } from './Confirmation'
import { DeleteTenant } from './DeleteTenant'
import { ExportData } from './ExportData'
import { strings } from './strings'
import { TransferOwnership } from './TransferOwnership'

/** Settings of the tenant of this session, and a form for another one. */
export function TenantPage() {
  const tenants = useQuery(ownTenantsQuery)
  const { data: session } = useQuery(sessionQuery)
  if (tenants.error && !tenants.data) {
    return <Failed what={strings.tenantLower} error={tenants.error} retry={() => void tenants.refetch()} />
  }
  const tenant = tenants.data?.items.find(({ is_current }) => is_current)
  if (!tenants.data || !tenant || !session) return <LoadingPage title={strings.tenant} what={strings.tenantLower} />
  const owns = tenant.role === 'owner'
  return (
    <Page title={strings.tenant} lead={strings.lead}>
      {owns ? <Rename key={tenant.id} tenant={tenant} /> : <p className={pageStyles.lead}>{strings.ownerOnly}</p>}
      {owns && <ServiceTraffic tenant={tenant} />}
      {owns && <TransferOwnership tenant={tenant} own={session.user.id} />}
      {owns && <ExportData tenant={tenant} />}
      <Leave tenant={tenant} />
      {owns && <DeleteTenant tenant={tenant} />}
      {tenants.data.may_create && <Create />}
    </Page>
  )
}

function Rename({ tenant }: { tenant: OwnTenant }) {
  const rename = useSetTenant()

  function submit(form: FormData) {
    rename.mutate({ id: tenant.id, name: String(form.get('name')).trim() })
  }

  return (
    <Panel title={strings.rename}>
      <ActionForm onSubmit={submit} doing={rename} action={strings.saveName}>
        <TextInput
          {...fieldsOf(rename)('name')}
          label={strings.name}
          defaultValue={tenant.name}
          required
          withAsterisk={false}
          {...longest(100)}
          w={260}
        />
      </ActionForm>
      {rename.isSuccess && <Notice tone="good">{strings.saved}</Notice>}
    </Panel>
  )
}

function ServiceTraffic({ tenant }: { tenant: OwnTenant }) {
  const set = useSetTenant()
  return (
    <Panel title={strings.serviceTraffic}>
      <Checkbox
        label={strings.countServiceTraffic}
        description={strings.serviceTrafficHint}
        checked={tenant.service_traffic}
        disabled={set.isPending}
        onChange={({ currentTarget }) => set.mutate({ id: tenant.id, service_traffic: currentTarget.checked })}
      />
      <ActionError error={set.error} />
    </Panel>
  )
}

function Leave({ tenant }: { tenant: OwnTenant }) {
  const leave = useLeaveTenant()
  return (
    <Panel title={strings.leave}>
      <Confirmation
        tenant={tenant}
        lead={strings.leaveLead}
        action={strings.leave}
        doing={leave}
        onConfirm={(name) => leave.mutate(name, { onSuccess: tenantLeft })}
      />
    </Panel>
  )
}

function Create() {
  const create = useCreateTenant()
  const [opening, setOpening] = useState(false)

  function submit(form: FormData, element: HTMLFormElement) {
    create.mutate(String(form.get('name')).trim(), { onSuccess: () => element.reset() })
  }

  const made = create.data
  return (
    <Panel title={strings.create}>
      <p className={pageStyles.lead}>{strings.createLead}</p>
      <ActionForm onSubmit={submit} doing={create} action={strings.createTenant}>
        <TextInput
          {...fieldsOf(create)('name')}
          label={strings.name}
          placeholder={strings.nameExample}
          required
          withAsterisk={false}
          {...longest(100)}
          w={260}
        />
      </ActionForm>
      {made && (
        <>
          <Notice tone="good">{strings.createdTenant(made.name)}</Notice>
          <Button
            variant="default"
            loading={opening}
            onClick={() => {
              setOpening(true)
              void openTenant(made.id).catch(() => setOpening(false))
            }}
          >
            {strings.open(made.name)}
          </Button>
        </>
      )}
    </Panel>
  )
}
