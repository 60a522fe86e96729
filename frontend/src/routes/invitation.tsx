import { createFileRoute, useLocation } from '@tanstack/react-router'
import { InvitationPage } from '~/features/members/InvitationPage'
import { forgetInvitationToken, invitationToken } from '~/features/members/invitationToken'
import { PublicTitle } from '~/features/shell/DocumentTitle'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/invitation')({
  staticData: { title: strings.invitation },
  component: Invitation,
})

function Invitation() {
  const hash = useLocation({ select: (location) => location.hash })
  return (
    <>
      <PublicTitle />
      <InvitationPage
        token={invitationToken(hash)}
        onJoined={() => {
          forgetInvitationToken()
          // Reloaded: no data of an earlier session or tenant may remain.
          window.location.assign('/')
        }}
      />
    </>
  )
}
