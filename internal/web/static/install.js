// The browser offers to install the pages as an app.
{
const install = document.querySelector('[data-install]')
addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  install.hidden = false
  install.querySelector('button').addEventListener('click', () => { event.prompt(); install.hidden = true }, { once: true })
})
}
