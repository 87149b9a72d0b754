//! Bringing the workspaces of the store in line with the config file.

use crate::context::Context;

/// Makes the workspaces that are the config file's what it says now.
pub(crate) async fn sync_workspaces(context: &Context) -> Result<(), store::Error> {
    let config = context.config();
    let configured = config.workspaces.values().map(|workspace| {
        let access = workspace.access.iter().map(|(team, level)| (team.clone(), *level)).collect();
        (workspace.name.clone(), access)
    });
    let synced = context.store.sync_workspaces(configured.collect(), context.now()).await?;
    for workspace in synced.removed {
        tracing::info!(%workspace, "removed from the configuration");
    }
    for workspace in synced.foreign {
        tracing::error!(
            %workspace,
            "the config file names a workspace that was made through the API, which stays as it is: give one of them \
             another name"
        );
    }
    Ok(())
}
