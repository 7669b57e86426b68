// Adding a passkey, and signing in with one. The forms stay hidden where the browser has no passkeys, and at
// an address that is not their domain.
'use strict'

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
const toText = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

// ask gets the options of a form, lets the person use the passkey, and puts the answer into the form.
const ask = async (form) => {
  const response = await fetch(form.dataset.options, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  if (!response.ok) throw response.status
  const { challenge_id: id, options: publicKey } = await response.json()
  publicKey.challenge = toBytes(publicKey.challenge)
  if (publicKey.user) publicKey.user.id = toBytes(publicKey.user.id)
  for (const known of publicKey.excludeCredentials || []) known.id = toBytes(known.id)
  const credential = await navigator.credentials[publicKey.user ? 'create' : 'get']({ publicKey })
  const answer = {
    id: credential.id, rawId: toText(credential.rawId), type: credential.type, clientExtensionResults: credential.getClientExtensionResults(), response: {}
  }
  if (credential.authenticatorAttachment) answer.authenticatorAttachment = credential.authenticatorAttachment
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (credential.response[name]) answer.response[name] = toText(credential.response[name])
  }
  if (credential.response.getTransports) answer.response.transports = credential.response.getTransports()
  form.elements.challenge_id.value = id
  form.elements.credential.value = JSON.stringify(answer)
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const domain = form.dataset.passkey
  const here = location.hostname
  if (!window.PublicKeyCredential || here !== domain && !here.endsWith('.' + domain)) continue
  form.closest('[hidden]').hidden = false
  document.querySelector('[data-no-passkeys]')?.remove()
  const failed = form.querySelector('[data-failed]')
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    failed.hidden = true
    const remember = document.querySelector('form:not([data-passkey]) [name=remember]')
    if (remember) form.elements.remember.value = remember.checked ? 'yes' : ''
    ask(form).then(() => form.submit()).catch(() => {
      failed.hidden = false
      delete form.dataset.sent
    })
  })
}
