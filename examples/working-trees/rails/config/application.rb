require "rails"
require "active_record/railtie"
require "rails/test_unit/railtie"

class Shop < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.active_record.dump_schema_after_migration = false
  config.active_record.maintain_test_schema = false
end
