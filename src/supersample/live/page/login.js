// The form to log in; the session is a cookie that no script can read.
export function login(entered) {
  const [form, wrong] = ["login", "wrong"].map((id) => document.getElementById(id));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    try {
      const answer = await fetch("/login", { method: "POST", body: new URLSearchParams(new FormData(form)) });
      form.reset();
      if (answer.ok) entered();
      else wrong.textContent = "That is no token for reading or administration.";
    } catch {
      wrong.textContent = "The service does not answer. Try again.";
    }
  });
}
